"""Annotation of reasoning: ToM level and fallacies, by any model client, beside the traces."""
