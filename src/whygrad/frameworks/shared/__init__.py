"""What every backend records alike: values, places, updates, and the evidence made of them."""
