#!/usr/bin/env python3
"""Writes the numbers that the PIL image processors of Hugging Face transformers give for drawn
images, for several files preprocessor_config.json.

    python make_images.py ../files/image_processors.json

Needs transformers 4.57, numpy and Pillow. Each row has the settings, the size of the image, and the
numbers [height, width, 3]. Images are drawn by `slopes`, as in image_processor.test.cpp.
"""
import json
import sys

import numpy
from PIL import Image
from transformers import CLIPImageProcessor, DeiTImageProcessor, ViTImageProcessor

CLASSES = {"ViT": ViTImageProcessor, "DeiT": DeiTImageProcessor, "CLIP": CLIPImageProcessor}
TO = {"size": {"height": 6, "width": 6}}
ROWS = [("ViT", (9, 13), TO)]
ROWS += [("ViT", (9, 13), TO | {"resample": r}) for r in range(6)] + [("ViT", (4, 3), TO | {"resample": r}) for r in range(6)]
ROWS += [("ViT", (9, 13), TO | {"do_normalize": False}),
         ("ViT", (9, 13), TO | {"do_normalize": False, "do_rescale": False}),
         ("ViT", (9, 13), TO | {"do_rescale": False, "image_mean": [100, 120, 90], "image_std": [50, 40, 60]}),
         ("ViT", (9, 13), TO | {"rescale_factor": 1 / 127.5, "image_mean": [1, 1, 1], "image_std": [1, 1, 1]}),
         ("ViT", (9, 13), TO | {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}),
         ("ViT", (9, 13), {"size": 6}),
         ("DeiT", (9, 13), {"size": {"height": 8, "width": 9}, "crop_size": {"height": 6, "width": 6}}),
         ("DeiT", (9, 13), {"size": 9, "crop_size": 6, "resample": 2}),
         ("DeiT", (9, 13), {"size": {"height": 3, "width": 5}, "crop_size": 6}),
         ("DeiT", (9, 13), {"size": 6, "do_center_crop": False}),
         ("DeiT", (9, 13), {"do_resize": False, "crop_size": 6}),
         ("CLIP", (9, 13), {"size": {"shortest_edge": 7}, "crop_size": 6}),
         ("CLIP", (13, 9), {"size": 6, "crop_size": {"height": 6, "width": 6}}),
         ("CLIP", (9, 13), {"size": {"height": 6, "width": 6}, "do_center_crop": False, "do_normalize": False})]


def slopes(height, width):
    y, x = numpy.mgrid[:height, :width]
    return Image.fromarray(numpy.stack([x * 19 + y * 3, y * 27 + x, 255 - x * 11 - y * 5], -1).astype(numpy.uint8))


def main():
    rows = []
    for name, size, settings in ROWS:
        found = CLASSES[name](**settings)(slopes(*size), return_tensors="np")["pixel_values"][0]
        values = [round(float(v), 5) for v in found.transpose(1, 2, 0).flatten()]
        rows.append({"settings": {"image_processor_type": name + "ImageProcessor"} | settings, "image": size, "values": values})
    open(sys.argv[1], "w").write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


main()
