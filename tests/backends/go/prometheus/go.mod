module example.com/prometheus

go 1.26.7

require github.com/prometheus/prometheus v0.315.0
