"""Settings of the documentation site: Sphinx with MyST and the theme Furo.

`poe docs` builds the site into `build/docs`. Warnings are errors, so a link to a page or an anchor
that does not exist fails the build. The pages load nothing from elsewhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "agentool_otel"
html_title = "agentool_otel"
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False

extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
exclude_patterns: list[str] = []
nitpicky = True
