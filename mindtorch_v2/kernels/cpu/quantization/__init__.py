"""Numbers rounded as quantized ones are, and what is observed of them."""
