"""The reports of a rehearsal: text, Markdown, SARIF and HTML, all made from one model."""
