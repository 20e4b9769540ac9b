"""Whether codecs agree: our engines with each other, and codecs in any language behind the pipe."""
