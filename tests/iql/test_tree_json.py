import json
from typing import Any

from proviso_service.iql import TemplateCatalog, parse, tree_json


def statement(text: str, start: int, end: int) -> dict[str, Any]:
    return {"type": "statement", "text": text, "start": start, "end": end}


def test_every_type_of_node(catalog: TemplateCatalog) -> None:
    query = '{A} OR NOT {B} AND {IS clause that "é"} > {C} + {D}'

    assert json.loads(tree_json(parse(query, catalog))) == {
        "type": "or",
        "start": 0,
        "end": 51,
        "operands": [
            statement("A", 0, 3),
            {
                "type": "and",
                "start": 7,
                "end": 51,
                "operands": [
                    {"type": "not", "start": 7, "end": 14, "operand": statement("B", 11, 14)},
                    {
                        "type": "comparison",
                        "start": 19,
                        "end": 51,
                        "comparators": [">"],
                        "operands": [
                            {
                                "type": "template",
                                "name": "clause that",
                                "arguments": ["é"],
                                "text": "This is a clause that é.",
                                "start": 19,
                                "end": 39,
                            },
                            {
                                "type": "average",
                                "start": 42,
                                "end": 51,
                                "operands": [statement("C", 42, 45), statement("D", 48, 51)],
                            },
                        ],
                    },
                ],
            },
        ],
    }


def test_json_is_one_line_of_ascii(catalog: TemplateCatalog) -> None:
    text = tree_json(parse("{é\n契 AND 約}", catalog))

    assert text.isascii()
    assert "\n" not in text
