"""Sentences of German and Russian, made up from lists of words: text that every machine has."""

from __future__ import annotations

import random


def _words(line: str) -> list[str]:
    return line.split()


# The last part of a German compound decides its article.
_GERMAN_FIRST = _words("Wasser Wald Stein Mühlen Garten Winter Sommer Markt Kirchen Schul Haus Berg Land Holz Eisen")
_GERMAN_LAST = {
    "Der": _words("weg turm platz brunnen hof graben schlüssel wagen"),
    "Die": _words("tür brücke mauer straße"),
    "Das": _words("tor fenster dach feld"),
}
_GERMAN_VERBS = _words("glänzt verfällt steht bleibt fehlt ruht verschwindet wartet")
_GERMAN_PLACES = [
    "seit vielen Jahren am Rand der Stadt",
    "im Schatten der alten Bäume",
    "hinter dem Haus des Müllers",
    "zwischen zwei Hügeln",
    "wie jeden Morgen im Nebel",
    "bei jedem Wetter",
]
# All nouns are masculine and no object is alive, so an adjective has the same ending in the accusative.
_RUSSIAN_ADJECTIVES = _words("старый новый тяжёлый белый красный последний деревянный соседний маленький странный")
_RUSSIAN_SUBJECTS = _words("мельник учитель сторож кузнец рыбак садовник пекарь почтальон столяр художник")
_RUSSIAN_VERBS = _words("принёс унёс нашёл потерял купил продал спрятал починил подарил увидел забыл оставил")
_RUSSIAN_OBJECTS = _words("мешок ключ стол ковёр фонарь сундук топор камень колокол портрет чемодан подсвечник")
_RUSSIAN_PLACES = [
    "на старой мельнице",
    "за рекой",
    "перед самым рассветом",
    "в доме своего брата",
    "при свете луны",
    "и никому ничего не сказал",
]


def german(count: int, seed: int = 1) -> list[str]:
    """Returns sentences such as `Der Waldbrunnen glänzt zwischen zwei Hügeln.`; the seed decides which."""
    choose = random.Random(seed).choice
    sentences = []
    for _ in range(count):
        article = choose(list(_GERMAN_LAST))
        noun = choose(_GERMAN_FIRST) + choose(_GERMAN_LAST[article])
        sentences.append(f"{article} {noun} {choose(_GERMAN_VERBS)} {choose(_GERMAN_PLACES)}.")
    return sentences


def russian(count: int, seed: int = 1) -> list[str]:
    """Returns sentences such as `Старый мельник принёс белый мешок за рекой.`; the seed decides which."""
    choose = random.Random(seed).choice
    sentences = []
    for _ in range(count):
        subject = f"{choose(_RUSSIAN_ADJECTIVES)} {choose(_RUSSIAN_SUBJECTS)}"
        thing = f"{choose(_RUSSIAN_ADJECTIVES)} {choose(_RUSSIAN_OBJECTS)}"
        sentences.append(f"{subject} {choose(_RUSSIAN_VERBS)} {thing} {choose(_RUSSIAN_PLACES)}.".capitalize())
    return sentences
