#!/usr/bin/env python3
"""Prints the numbers that correlation.test.cpp, rouge_n.test.cpp, bleu.test.cpp and
exact_match.test.cpp expect, from the packages that defined them.

    python -m venv v
    v/bin/pip install scikit-learn==1.9.1 scipy==1.17.1 sacrebleu==2.6.0 rouge-score==0.1.2
    v/bin/python make_scores.py
"""
import re
import string
import warnings

from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import matthews_corrcoef

warnings.simplefilter("ignore")  # scipy warns of constant inputs


def squad_text(text):
    """normalize_answer() of SQuAD's evaluate-v2.0.py."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(re.compile(r"\b(a|an|the)\b", re.UNICODE), " ", text).split())


def show(name, *numbers):
    print(name, *(f"{number:.15g}" for number in numbers))


expected, predicted = [0, 0, 0, 1, 1, 2, 2, 2, 3, 1], [0, 0, 1, 1, 3, 2, 1, 0, 3, 2]
show("matthews, four classes", matthews_corrcoef(expected, predicted))
show("matthews, the example of scikit-learn", matthews_corrcoef([1, 1, 1, -1], [1, -1, 1, 1]))
show("matthews, two classes", matthews_corrcoef([1, 1, 1, 1, 0, 0, 0, 1, 0, 1], [1, 0, 1, 1, 0, 1, 0, 1, 0, 0]))
show("matthews, one class", matthews_corrcoef([0, 1, 2], [1, 1, 1]), matthews_corrcoef([1, 1], [1, 1]))

x, y = [17, 86, 60, 77, 47, 3, 70, 87, 88, 92], [6.5, 17.25, 11, 14, 3, 1, 20.75, 18, 17.25, 30]
show("correlations", pearsonr(x, y)[0], spearmanr(x, y)[0])
show("correlations with ties", pearsonr([1, 2, 2, 3, 3, 3, -7], [5, 1, 5, 5, 0, 9, 1])[0],
     spearmanr([1, 2, 2, 3, 3, 3, -7], [5, 1, 5, 5, 0, 9, 1])[0])
show("correlations, the examples of scipy", pearsonr([1, 2, 3, 4, 5, 6, 7], [10, 9, 2.5, 6, 4, 3, 2])[0],
     spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7])[0])
show("correlations of a constant", pearsonr([1, 1, 1], [1, 2, 3])[0], spearmanr([1, 2, 3], [4, 4, 4])[0])
show("pearson of large numbers", pearsonr([1e9 + 1, 1e9 + 2, 1e9 + 4], [3, 1, 7])[0])

texts = [("the quick brown fox jumps over the lazy dog", "The Quick brown dog jumps on the log."),
         ("the the the the", "the cat is on the mat"), ("naïve café au lait", "NAÏVE cafe au lait"), ("one", "one two"), ("", "a b")]
for candidate, reference in texts:
    for n in (1, 2, 3):
        score = RougeScorer([f"rouge{n}"]).score(reference, candidate)[f"rouge{n}"]
        show(f"rouge_{n} {candidate!r} {reference!r}", score.precision, score.recall, score.fmeasure)

corpora = {
    "the example of sacreBLEU": (["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."],
                                 [["The dog bit the man.", "The dog had bit the man."], ["It was not unexpected.", "No one was surprised."],
                                  ["The man bit him first.", "The man had bitten the dog."]]),
    "short": (["the the the the the the the"], [["the cat is on the mat", "there is a cat on the mat"]]),
    "brief": (["It is a guide to action", "He read the book"], [["It is a guide to action that ensures"], ["He read the book because he was interested"]]),
    "smoothed": (["a b c d e", "x y"], [["a b x d e"], ["x z"]]),
    "no words of order four": (["a b"], [["a b c"]]),
    "empty candidate": (["", "a b c d"], [["a"], ["a b c d e"]]),
    "only empty candidates": ([""], [["a b"]]),
    "nothing common": (["a b c d e"], [["v w x y z"]]),
    "two references equally close": (["a b c d e f"], [["a b c d e x y", "a b c d f"]]),
    "case": (["The Cat sat on the Mat ."], [["the cat sat on the mat ."]]),
    "Unicode": (["Das Mädchen kostet 1.234,56 € – „wirklich“?", "日本語 の 文 です 。"], [["Das Mädchen kostete 1.234,56 € – „wirklich“!", ""], ["日本語 の\u3000文 です 。", "日本"]]),
}
for name, (candidates, references) in corpora.items():
    streams = [list(stream) for stream in zip(*references)]
    b = BLEU(smooth_method="exp").corpus_score(candidates, streams)
    show(f"bleu, {name}:", b.score, *b.precisions, b.bp, b.sys_len, b.ref_len, *b.counts, *b.totals)

for text in ("Hello, World! It's 3.14, e.g. 5-6 or a-b", " &quot;Tom &amp; Jerry&quot; &lt;b&gt;", "...,, 1,000.50. .5 5.", "x<skipped>y foo-\nbar\nbaz -\n",
             "a\u00a0b\u2003c\u0085d„e“. 7-é 8,é", "$5/[b]{c}|~`^_\\ 'q'\"r\"", "&amp;lt; - -1- 2--3", " \t\n"):
    print("13a", ascii(text), ascii(BLEU().tokenizer(text.rstrip()).split()))

for text in ("The  Quick-brown fox, an  A.", "a", "Theatre and the An-other a-b", "ÉCOLE à la Ÿ Σίσυφος ΟΔΌΣ", "“the” cat—a dog…", "a\u0301 the\u00a0ЁЖ", "ＡＢ ẞ Ṽ"):
    print("squad", ascii(text), ascii(squad_text(text)))
