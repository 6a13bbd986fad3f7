"""IQL, the query language for clauses: parsing, printing, templates, evaluation. A library that needs no service.

    catalog = TemplateCatalog.load()
    tree = parse('{IS termination clause} AND NOT {IS clause obligating "Customer"}', catalog)
    scores = {text: score_of_each_chunk(text) for text in statements(tree)}
    combined = evaluate(tree, scores)

A query is statements in braces, joined by operators. Tightest first: `( )`, `+`, `>` and `<`, `NOT`, `AND`, `OR`.

    query       = bare | or ;
    or          = and , { "OR" , and } ;
    and         = not , { "AND" , not } ;
    not         = "NOT" , not | comparison ;
    comparison  = average , { ( ">" | "<" ) , average } ;
    average     = primary , { "+" , primary } ;
    primary     = statement | "(" , or , ")" ;
    statement   = "{" , content , "}" ;
    bare        = content ;                       (* one statement, when no unescaped brace is in the query *)
    content     = call | words ;
    call        = "IS" , space , name , { argument } ;
    name        = word , { space , word } ;       (* of a template; case and spacing do not matter *)
    argument    = '"' , { escape | '\\"' | character - ( '"' | "{" | "}" ) } , '"' ;
    words       = { escape | character - ( "{" | "}" ) } ;          (* not empty *)
    escape      = "\\{" | "\\}" | "\\\\" ;             (* a backslash before anything else is a backslash *)

White space may stand between all parts, and around words and arguments, where it does not count. Operator words are
read in any case and printed in upper case. `IS` is in capitals; words that would begin with it are written `\\IS`.

Where neither the tool contract nor the vendor's documentation decides, this is what holds here:

- A comparison chain `A > B < C` is `(A > B) AND (B < C)`, and stays a chain in the tree and in print.
- `NOT` after `+`, `>` or `<` needs parentheses, since it binds looser: `{A} > (NOT {B})`.
- `(A AND B) AND C` and `A AND B AND C` are one tree; so it is with OR. `(A + B) + C` and `A + B + C` are two.
- `Is ...` and `is ...` begin plain words. `{IS}` alone is a call without a name, an error.
- Every `\\\\` is one backslash, not only in front of an escape. `\\"` is an escape only within quotes.
- A query without braces is one statement whatever words are in it, operators too, unless it is nothing but operators
  and parentheses, or nothing but template calls joined by operators; those are errors. `misreadings` notes the others.
- Arguments follow the template's name. An argument that is empty or white space is an error.
- `max_statements` counts statements as written; `max_depth` counts parentheses and NOTs around a statement.
"""

from proviso_service.iql.evaluation import ComparisonMode, Scores, evaluate, node_scores
from proviso_service.iql.misread import misreadings
from proviso_service.iql.parser import parse
from proviso_service.iql.problems import (
    Edit,
    IqlError,
    IqlSyntaxError,
    Problem,
    ProblemKind,
    Remedy,
    TemplateFileError,
    marked,
    render,
)
from proviso_service.iql.structure import QueryLimits
from proviso_service.iql.syntax import (
    And,
    Average,
    Comparator,
    Comparison,
    Expression,
    Not,
    Or,
    QuerySpan,
    Statement,
    Template,
    canonical_text,
    leaves,
    statements,
    tree_json,
)
from proviso_service.iql.templates import TemplateCatalog, TemplateDefinition

__all__ = [
    "And",
    "Average",
    "Comparator",
    "Comparison",
    "ComparisonMode",
    "Edit",
    "Expression",
    "IqlError",
    "IqlSyntaxError",
    "Not",
    "Or",
    "Problem",
    "ProblemKind",
    "QueryLimits",
    "QuerySpan",
    "Remedy",
    "Scores",
    "Statement",
    "Template",
    "TemplateCatalog",
    "TemplateDefinition",
    "TemplateFileError",
    "canonical_text",
    "evaluate",
    "leaves",
    "marked",
    "misreadings",
    "node_scores",
    "parse",
    "render",
    "statements",
    "tree_json",
]
