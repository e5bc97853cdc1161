"""Microsoft's Agent Framework, Semantic Kernel and Microsoft.Extensions.AI."""
