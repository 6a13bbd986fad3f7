import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from proviso_client.v1 import errors_pb2 as _errors_pb2
from proviso_client.v1 import matters_pb2 as _matters_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IqlComparison(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IQL_COMPARISON_UNSPECIFIED: _ClassVar[IqlComparison]
    IQL_COMPARISON_CONTRACT: _ClassVar[IqlComparison]
    IQL_COMPARISON_VENDOR: _ClassVar[IqlComparison]

class IqlNodeType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IQL_NODE_TYPE_UNSPECIFIED: _ClassVar[IqlNodeType]
    IQL_NODE_TYPE_STATEMENT: _ClassVar[IqlNodeType]
    IQL_NODE_TYPE_TEMPLATE: _ClassVar[IqlNodeType]
    IQL_NODE_TYPE_NOT: _ClassVar[IqlNodeType]
    IQL_NODE_TYPE_AND: _ClassVar[IqlNodeType]
    IQL_NODE_TYPE_OR: _ClassVar[IqlNodeType]
    IQL_NODE_TYPE_AVERAGE: _ClassVar[IqlNodeType]
    IQL_NODE_TYPE_COMPARISON: _ClassVar[IqlNodeType]

class IqlComparator(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IQL_COMPARATOR_UNSPECIFIED: _ClassVar[IqlComparator]
    IQL_COMPARATOR_GREATER: _ClassVar[IqlComparator]
    IQL_COMPARATOR_LESS: _ClassVar[IqlComparator]

class Likelihood(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LIKELIHOOD_UNSPECIFIED: _ClassVar[Likelihood]
    LIKELIHOOD_UNLIKELY: _ClassVar[Likelihood]
    LIKELIHOOD_POSSIBLE: _ClassVar[Likelihood]
    LIKELIHOOD_LIKELY: _ClassVar[Likelihood]

class SearchEmptyReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_EMPTY_REASON_UNSPECIFIED: _ClassVar[SearchEmptyReason]
    SEARCH_EMPTY_REASON_NOTHING_SEARCHED: _ClassVar[SearchEmptyReason]
    SEARCH_EMPTY_REASON_NO_MATCH: _ClassVar[SearchEmptyReason]
    SEARCH_EMPTY_REASON_BELOW_MIN_SCORE: _ClassVar[SearchEmptyReason]

class ValueKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VALUE_KIND_UNSPECIFIED: _ClassVar[ValueKind]
    VALUE_KIND_DATE: _ClassVar[ValueKind]
    VALUE_KIND_AMOUNT: _ClassVar[ValueKind]
    VALUE_KIND_PERIOD: _ClassVar[ValueKind]
    VALUE_KIND_PERCENTAGE: _ClassVar[ValueKind]
    VALUE_KIND_PARTY: _ClassVar[ValueKind]
    VALUE_KIND_LAW: _ClassVar[ValueKind]
IQL_COMPARISON_UNSPECIFIED: IqlComparison
IQL_COMPARISON_CONTRACT: IqlComparison
IQL_COMPARISON_VENDOR: IqlComparison
IQL_NODE_TYPE_UNSPECIFIED: IqlNodeType
IQL_NODE_TYPE_STATEMENT: IqlNodeType
IQL_NODE_TYPE_TEMPLATE: IqlNodeType
IQL_NODE_TYPE_NOT: IqlNodeType
IQL_NODE_TYPE_AND: IqlNodeType
IQL_NODE_TYPE_OR: IqlNodeType
IQL_NODE_TYPE_AVERAGE: IqlNodeType
IQL_NODE_TYPE_COMPARISON: IqlNodeType
IQL_COMPARATOR_UNSPECIFIED: IqlComparator
IQL_COMPARATOR_GREATER: IqlComparator
IQL_COMPARATOR_LESS: IqlComparator
LIKELIHOOD_UNSPECIFIED: Likelihood
LIKELIHOOD_UNLIKELY: Likelihood
LIKELIHOOD_POSSIBLE: Likelihood
LIKELIHOOD_LIKELY: Likelihood
SEARCH_EMPTY_REASON_UNSPECIFIED: SearchEmptyReason
SEARCH_EMPTY_REASON_NOTHING_SEARCHED: SearchEmptyReason
SEARCH_EMPTY_REASON_NO_MATCH: SearchEmptyReason
SEARCH_EMPTY_REASON_BELOW_MIN_SCORE: SearchEmptyReason
VALUE_KIND_UNSPECIFIED: ValueKind
VALUE_KIND_DATE: ValueKind
VALUE_KIND_AMOUNT: ValueKind
VALUE_KIND_PERIOD: ValueKind
VALUE_KIND_PERCENTAGE: ValueKind
VALUE_KIND_PARTY: ValueKind
VALUE_KIND_LAW: ValueKind

class ExecuteIqlRequest(_message.Message):
    __slots__ = ("matter_id", "query", "document_ids", "model", "min_score", "comparison", "page_size", "page_token", "explain")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    query: str
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    model: str
    min_score: float
    comparison: IqlComparison
    page_size: int
    page_token: str
    explain: bool
    def __init__(self, matter_id: _Optional[str] = ..., query: _Optional[str] = ..., document_ids: _Optional[_Iterable[str]] = ..., model: _Optional[str] = ..., min_score: _Optional[float] = ..., comparison: _Optional[_Union[IqlComparison, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., explain: _Optional[bool] = ...) -> None: ...

class IqlStatementScore(_message.Message):
    __slots__ = ("statement", "score")
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    statement: str
    score: float
    def __init__(self, statement: _Optional[str] = ..., score: _Optional[float] = ...) -> None: ...

class IqlNode(_message.Message):
    __slots__ = ("type", "start", "end", "score", "operands", "comparators", "statement", "template", "arguments")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    OPERANDS_FIELD_NUMBER: _ClassVar[int]
    COMPARATORS_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    TEMPLATE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    type: IqlNodeType
    start: int
    end: int
    score: float
    operands: _containers.RepeatedCompositeFieldContainer[IqlNode]
    comparators: _containers.RepeatedScalarFieldContainer[IqlComparator]
    statement: str
    template: str
    arguments: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, type: _Optional[_Union[IqlNodeType, str]] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., score: _Optional[float] = ..., operands: _Optional[_Iterable[_Union[IqlNode, _Mapping]]] = ..., comparators: _Optional[_Iterable[_Union[IqlComparator, str]]] = ..., statement: _Optional[str] = ..., template: _Optional[str] = ..., arguments: _Optional[_Iterable[str]] = ...) -> None: ...

class IqlMatch(_message.Message):
    __slots__ = ("text", "start_index", "end_index", "score", "citation", "explanation", "likelihood")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    LIKELIHOOD_FIELD_NUMBER: _ClassVar[int]
    text: str
    start_index: int
    end_index: int
    score: float
    citation: SearchCitation
    explanation: IqlNode
    likelihood: Likelihood
    def __init__(self, text: _Optional[str] = ..., start_index: _Optional[int] = ..., end_index: _Optional[int] = ..., score: _Optional[float] = ..., citation: _Optional[_Union[SearchCitation, _Mapping]] = ..., explanation: _Optional[_Union[IqlNode, _Mapping]] = ..., likelihood: _Optional[_Union[Likelihood, str]] = ...) -> None: ...

class IqlDocumentResult(_message.Message):
    __slots__ = ("document_id", "filename", "score", "matches", "match_count", "error", "truncated", "statement_scores", "explanation", "failure_cause", "next_page_token", "likelihood")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    MATCH_COUNT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_SCORES_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CAUSE_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LIKELIHOOD_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    filename: str
    score: float
    matches: _containers.RepeatedCompositeFieldContainer[IqlMatch]
    match_count: int
    error: str
    truncated: bool
    statement_scores: _containers.RepeatedCompositeFieldContainer[IqlStatementScore]
    explanation: IqlNode
    failure_cause: _errors_pb2.FailureCause
    next_page_token: str
    likelihood: Likelihood
    def __init__(self, document_id: _Optional[str] = ..., filename: _Optional[str] = ..., score: _Optional[float] = ..., matches: _Optional[_Iterable[_Union[IqlMatch, _Mapping]]] = ..., match_count: _Optional[int] = ..., error: _Optional[str] = ..., truncated: _Optional[bool] = ..., statement_scores: _Optional[_Iterable[_Union[IqlStatementScore, _Mapping]]] = ..., explanation: _Optional[_Union[IqlNode, _Mapping]] = ..., failure_cause: _Optional[_Union[_errors_pb2.FailureCause, str]] = ..., next_page_token: _Optional[str] = ..., likelihood: _Optional[_Union[Likelihood, str]] = ...) -> None: ...

class ExecuteIqlResponse(_message.Message):
    __slots__ = ("query", "document_results", "total_matches", "average_score", "model", "warnings", "document_count", "truncated", "next_page_token")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_RESULTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_MATCHES_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_SCORE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    query: str
    document_results: _containers.RepeatedCompositeFieldContainer[IqlDocumentResult]
    total_matches: int
    average_score: float
    model: str
    warnings: _containers.RepeatedScalarFieldContainer[str]
    document_count: int
    truncated: bool
    next_page_token: str
    def __init__(self, query: _Optional[str] = ..., document_results: _Optional[_Iterable[_Union[IqlDocumentResult, _Mapping]]] = ..., total_matches: _Optional[int] = ..., average_score: _Optional[float] = ..., model: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ..., document_count: _Optional[int] = ..., truncated: _Optional[bool] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class StreamIqlRequest(_message.Message):
    __slots__ = ("query",)
    QUERY_FIELD_NUMBER: _ClassVar[int]
    query: ExecuteIqlRequest
    def __init__(self, query: _Optional[_Union[ExecuteIqlRequest, _Mapping]] = ...) -> None: ...

class StreamIqlResponse(_message.Message):
    __slots__ = ("document_result", "summary", "totals", "document_index")
    DOCUMENT_RESULT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_INDEX_FIELD_NUMBER: _ClassVar[int]
    document_result: IqlDocumentResult
    summary: ExecuteIqlResponse
    totals: IqlTotals
    document_index: int
    def __init__(self, document_result: _Optional[_Union[IqlDocumentResult, _Mapping]] = ..., summary: _Optional[_Union[ExecuteIqlResponse, _Mapping]] = ..., totals: _Optional[_Union[IqlTotals, _Mapping]] = ..., document_index: _Optional[int] = ...) -> None: ...

class IqlTotals(_message.Message):
    __slots__ = ("documents_done", "document_count", "total_matches", "average_score")
    DOCUMENTS_DONE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_MATCHES_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_SCORE_FIELD_NUMBER: _ClassVar[int]
    documents_done: int
    document_count: int
    total_matches: int
    average_score: float
    def __init__(self, documents_done: _Optional[int] = ..., document_count: _Optional[int] = ..., total_matches: _Optional[int] = ..., average_score: _Optional[float] = ...) -> None: ...

class ListIqlTemplatesRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class IqlTemplate(_message.Message):
    __slots__ = ("name", "arguments", "statement", "meaning")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    MEANING_FIELD_NUMBER: _ClassVar[int]
    name: str
    arguments: _containers.RepeatedScalarFieldContainer[str]
    statement: str
    meaning: str
    def __init__(self, name: _Optional[str] = ..., arguments: _Optional[_Iterable[str]] = ..., statement: _Optional[str] = ..., meaning: _Optional[str] = ...) -> None: ...

class ListIqlTemplatesResponse(_message.Message):
    __slots__ = ("templates", "next_page_token", "total_size")
    TEMPLATES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    templates: _containers.RepeatedCompositeFieldContainer[IqlTemplate]
    next_page_token: str
    total_size: int
    def __init__(self, templates: _Optional[_Iterable[_Union[IqlTemplate, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ...) -> None: ...

class ParseIqlRequest(_message.Message):
    __slots__ = ("query", "matter_id")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    query: str
    matter_id: str
    def __init__(self, query: _Optional[str] = ..., matter_id: _Optional[str] = ...) -> None: ...

class IqlError(_message.Message):
    __slots__ = ("start", "end", "message", "suggestions", "edits")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SUGGESTIONS_FIELD_NUMBER: _ClassVar[int]
    EDITS_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    message: str
    suggestions: _containers.RepeatedScalarFieldContainer[str]
    edits: _containers.RepeatedCompositeFieldContainer[IqlEdit]
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ..., message: _Optional[str] = ..., suggestions: _Optional[_Iterable[str]] = ..., edits: _Optional[_Iterable[_Union[IqlEdit, _Mapping]]] = ...) -> None: ...

class IqlFaults(_message.Message):
    __slots__ = ("errors", "truncated")
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    errors: _containers.RepeatedCompositeFieldContainer[IqlError]
    truncated: bool
    def __init__(self, errors: _Optional[_Iterable[_Union[IqlError, _Mapping]]] = ..., truncated: _Optional[bool] = ...) -> None: ...

class IqlEdit(_message.Message):
    __slots__ = ("suggestion", "label", "start", "end", "text")
    SUGGESTION_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    suggestion: int
    label: str
    start: int
    end: int
    text: str
    def __init__(self, suggestion: _Optional[int] = ..., label: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class ParseIqlResponse(_message.Message):
    __slots__ = ("tree", "canonical", "statements", "estimated_model_calls", "errors")
    TREE_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_FIELD_NUMBER: _ClassVar[int]
    STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    tree: IqlNode
    canonical: str
    statements: _containers.RepeatedScalarFieldContainer[str]
    estimated_model_calls: int
    errors: _containers.RepeatedCompositeFieldContainer[IqlError]
    def __init__(self, tree: _Optional[_Union[IqlNode, _Mapping]] = ..., canonical: _Optional[str] = ..., statements: _Optional[_Iterable[str]] = ..., estimated_model_calls: _Optional[int] = ..., errors: _Optional[_Iterable[_Union[IqlError, _Mapping]]] = ...) -> None: ...

class SearchCitation(_message.Message):
    __slots__ = ("page", "section_path", "heading", "label", "permalink", "start", "end")
    PAGE_FIELD_NUMBER: _ClassVar[int]
    SECTION_PATH_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PERMALINK_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    page: int
    section_path: _containers.RepeatedScalarFieldContainer[str]
    heading: str
    label: str
    permalink: str
    start: int
    end: int
    def __init__(self, page: _Optional[int] = ..., section_path: _Optional[_Iterable[str]] = ..., heading: _Optional[str] = ..., label: _Optional[str] = ..., permalink: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("matter_id", "query", "page_size", "min_score", "semantic_weight", "include_context", "document_ids", "page_token")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    SEMANTIC_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    query: str
    page_size: int
    min_score: float
    semantic_weight: float
    include_context: bool
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    page_token: str
    def __init__(self, matter_id: _Optional[str] = ..., query: _Optional[str] = ..., page_size: _Optional[int] = ..., min_score: _Optional[float] = ..., semantic_weight: _Optional[float] = ..., include_context: _Optional[bool] = ..., document_ids: _Optional[_Iterable[str]] = ..., page_token: _Optional[str] = ...) -> None: ...

class SearchResult(_message.Message):
    __slots__ = ("document_id", "chunk_id", "filename", "chunk_text", "semantic_score", "rerank_score", "citation", "context_before", "context_after", "score", "lexical_match", "snippet", "lexical_score")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    CHUNK_TEXT_FIELD_NUMBER: _ClassVar[int]
    SEMANTIC_SCORE_FIELD_NUMBER: _ClassVar[int]
    RERANK_SCORE_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_AFTER_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_MATCH_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_SCORE_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    chunk_id: str
    filename: str
    chunk_text: str
    semantic_score: float
    rerank_score: float
    citation: SearchCitation
    context_before: str
    context_after: str
    score: float
    lexical_match: bool
    snippet: SearchSnippet
    lexical_score: float
    def __init__(self, document_id: _Optional[str] = ..., chunk_id: _Optional[str] = ..., filename: _Optional[str] = ..., chunk_text: _Optional[str] = ..., semantic_score: _Optional[float] = ..., rerank_score: _Optional[float] = ..., citation: _Optional[_Union[SearchCitation, _Mapping]] = ..., context_before: _Optional[str] = ..., context_after: _Optional[str] = ..., score: _Optional[float] = ..., lexical_match: _Optional[bool] = ..., snippet: _Optional[_Union[SearchSnippet, _Mapping]] = ..., lexical_score: _Optional[float] = ...) -> None: ...

class SearchSnippet(_message.Message):
    __slots__ = ("text", "start", "highlights")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    HIGHLIGHTS_FIELD_NUMBER: _ClassVar[int]
    text: str
    start: int
    highlights: _containers.RepeatedCompositeFieldContainer[SnippetHighlight]
    def __init__(self, text: _Optional[str] = ..., start: _Optional[int] = ..., highlights: _Optional[_Iterable[_Union[SnippetHighlight, _Mapping]]] = ...) -> None: ...

class SnippetHighlight(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("results", "total_size", "query", "matter_id", "reranked", "documents_available", "documents_processing", "truncated", "documents_matching", "document_errors", "documents_not_searched", "next_page_token", "total_size_exact", "empty_reason", "best_semantic_score", "warnings")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    RERANKED_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_PROCESSING_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_MATCHING_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ERRORS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_NOT_SEARCHED_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_EXACT_FIELD_NUMBER: _ClassVar[int]
    EMPTY_REASON_FIELD_NUMBER: _ClassVar[int]
    BEST_SEMANTIC_SCORE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[SearchResult]
    total_size: int
    query: str
    matter_id: str
    reranked: bool
    documents_available: _containers.RepeatedScalarFieldContainer[str]
    documents_processing: _containers.RepeatedScalarFieldContainer[str]
    truncated: bool
    documents_matching: _containers.RepeatedCompositeFieldContainer[DocumentHits]
    document_errors: _containers.RepeatedCompositeFieldContainer[DocumentError]
    documents_not_searched: int
    next_page_token: str
    total_size_exact: bool
    empty_reason: SearchEmptyReason
    best_semantic_score: float
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, results: _Optional[_Iterable[_Union[SearchResult, _Mapping]]] = ..., total_size: _Optional[int] = ..., query: _Optional[str] = ..., matter_id: _Optional[str] = ..., reranked: _Optional[bool] = ..., documents_available: _Optional[_Iterable[str]] = ..., documents_processing: _Optional[_Iterable[str]] = ..., truncated: _Optional[bool] = ..., documents_matching: _Optional[_Iterable[_Union[DocumentHits, _Mapping]]] = ..., document_errors: _Optional[_Iterable[_Union[DocumentError, _Mapping]]] = ..., documents_not_searched: _Optional[int] = ..., next_page_token: _Optional[str] = ..., total_size_exact: _Optional[bool] = ..., empty_reason: _Optional[_Union[SearchEmptyReason, str]] = ..., best_semantic_score: _Optional[float] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class DocumentHits(_message.Message):
    __slots__ = ("document_id", "filename", "passages")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    filename: str
    passages: int
    def __init__(self, document_id: _Optional[str] = ..., filename: _Optional[str] = ..., passages: _Optional[int] = ...) -> None: ...

class DocumentError(_message.Message):
    __slots__ = ("document_id", "filename", "error", "failure_cause")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CAUSE_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    filename: str
    error: str
    failure_cause: _errors_pb2.FailureCause
    def __init__(self, document_id: _Optional[str] = ..., filename: _Optional[str] = ..., error: _Optional[str] = ..., failure_cause: _Optional[_Union[_errors_pb2.FailureCause, str]] = ...) -> None: ...

class ExtractRequest(_message.Message):
    __slots__ = ("matter_id", "question", "document_ids", "min_score", "max_alternatives", "each_document")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    MAX_ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    EACH_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    question: str
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    min_score: float
    max_alternatives: int
    each_document: bool
    def __init__(self, matter_id: _Optional[str] = ..., question: _Optional[str] = ..., document_ids: _Optional[_Iterable[str]] = ..., min_score: _Optional[float] = ..., max_alternatives: _Optional[int] = ..., each_document: _Optional[bool] = ...) -> None: ...

class ExtractCitation(_message.Message):
    __slots__ = ("document_id", "chunk_id", "filename", "text_excerpt", "passage_score", "answer_start", "answer_end", "citation", "values")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_EXCERPT_FIELD_NUMBER: _ClassVar[int]
    PASSAGE_SCORE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_START_FIELD_NUMBER: _ClassVar[int]
    ANSWER_END_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    chunk_id: str
    filename: str
    text_excerpt: str
    passage_score: float
    answer_start: int
    answer_end: int
    citation: SearchCitation
    values: _containers.RepeatedCompositeFieldContainer[ExtractedValue]
    def __init__(self, document_id: _Optional[str] = ..., chunk_id: _Optional[str] = ..., filename: _Optional[str] = ..., text_excerpt: _Optional[str] = ..., passage_score: _Optional[float] = ..., answer_start: _Optional[int] = ..., answer_end: _Optional[int] = ..., citation: _Optional[_Union[SearchCitation, _Mapping]] = ..., values: _Optional[_Iterable[_Union[ExtractedValue, _Mapping]]] = ...) -> None: ...

class ExtractedValue(_message.Message):
    __slots__ = ("kind", "value", "unit", "start", "end")
    KIND_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    kind: ValueKind
    value: str
    unit: str
    start: int
    end: int
    def __init__(self, kind: _Optional[_Union[ValueKind, str]] = ..., value: _Optional[str] = ..., unit: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class ExtractAlternative(_message.Message):
    __slots__ = ("answer", "score", "citation", "likelihood")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    LIKELIHOOD_FIELD_NUMBER: _ClassVar[int]
    answer: str
    score: float
    citation: ExtractCitation
    likelihood: Likelihood
    def __init__(self, answer: _Optional[str] = ..., score: _Optional[float] = ..., citation: _Optional[_Union[ExtractCitation, _Mapping]] = ..., likelihood: _Optional[_Union[Likelihood, str]] = ...) -> None: ...

class ExtractResponse(_message.Message):
    __slots__ = ("answer", "score", "citations", "question", "found", "alternatives", "model", "document_errors", "truncated", "likelihood", "warnings")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ERRORS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    LIKELIHOOD_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    answer: str
    score: float
    citations: _containers.RepeatedCompositeFieldContainer[ExtractCitation]
    question: str
    found: bool
    alternatives: _containers.RepeatedCompositeFieldContainer[ExtractAlternative]
    model: str
    document_errors: _containers.RepeatedCompositeFieldContainer[DocumentError]
    truncated: bool
    likelihood: Likelihood
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, answer: _Optional[str] = ..., score: _Optional[float] = ..., citations: _Optional[_Iterable[_Union[ExtractCitation, _Mapping]]] = ..., question: _Optional[str] = ..., found: _Optional[bool] = ..., alternatives: _Optional[_Iterable[_Union[ExtractAlternative, _Mapping]]] = ..., model: _Optional[str] = ..., document_errors: _Optional[_Iterable[_Union[DocumentError, _Mapping]]] = ..., truncated: _Optional[bool] = ..., likelihood: _Optional[_Union[Likelihood, str]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class ClassifyRequest(_message.Message):
    __slots__ = ("matter_id", "clause_types", "document_ids", "min_score", "page_size", "page_token")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    CLAUSE_TYPES_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    clause_types: _containers.RepeatedScalarFieldContainer[str]
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    min_score: float
    page_size: int
    page_token: str
    def __init__(self, matter_id: _Optional[str] = ..., clause_types: _Optional[_Iterable[str]] = ..., document_ids: _Optional[_Iterable[str]] = ..., min_score: _Optional[float] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ClassifiedClause(_message.Message):
    __slots__ = ("clause_type", "score", "text_excerpt", "document_id", "filename", "start", "end", "chunk_id", "citation", "likelihood")
    CLAUSE_TYPE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TEXT_EXCERPT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    LIKELIHOOD_FIELD_NUMBER: _ClassVar[int]
    clause_type: str
    score: float
    text_excerpt: str
    document_id: str
    filename: str
    start: int
    end: int
    chunk_id: str
    citation: SearchCitation
    likelihood: Likelihood
    def __init__(self, clause_type: _Optional[str] = ..., score: _Optional[float] = ..., text_excerpt: _Optional[str] = ..., document_id: _Optional[str] = ..., filename: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., chunk_id: _Optional[str] = ..., citation: _Optional[_Union[SearchCitation, _Mapping]] = ..., likelihood: _Optional[_Union[Likelihood, str]] = ...) -> None: ...

class ClassifyResponse(_message.Message):
    __slots__ = ("clauses", "total_size", "clause_types_searched", "truncated", "document_errors", "model", "counts", "next_page_token", "warnings")
    CLAUSES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    CLAUSE_TYPES_SEARCHED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ERRORS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    clauses: _containers.RepeatedCompositeFieldContainer[ClassifiedClause]
    total_size: int
    clause_types_searched: _containers.RepeatedScalarFieldContainer[str]
    truncated: bool
    document_errors: _containers.RepeatedCompositeFieldContainer[DocumentError]
    model: str
    counts: _containers.RepeatedCompositeFieldContainer[ClauseTypeCount]
    next_page_token: str
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, clauses: _Optional[_Iterable[_Union[ClassifiedClause, _Mapping]]] = ..., total_size: _Optional[int] = ..., clause_types_searched: _Optional[_Iterable[str]] = ..., truncated: _Optional[bool] = ..., document_errors: _Optional[_Iterable[_Union[DocumentError, _Mapping]]] = ..., model: _Optional[str] = ..., counts: _Optional[_Iterable[_Union[ClauseTypeCount, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class ClauseTypeCount(_message.Message):
    __slots__ = ("clause_type", "clauses", "documents")
    CLAUSE_TYPE_FIELD_NUMBER: _ClassVar[int]
    CLAUSES_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    clause_type: str
    clauses: int
    documents: int
    def __init__(self, clause_type: _Optional[str] = ..., clauses: _Optional[int] = ..., documents: _Optional[int] = ...) -> None: ...

class ListMatterDocumentsRequest(_message.Message):
    __slots__ = ("matter_id", "page_size", "page_token")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    page_size: int
    page_token: str
    def __init__(self, matter_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class MatterDocument(_message.Message):
    __slots__ = ("document_id", "filename", "file_type", "size_bytes", "status", "upload_time")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    FILE_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_TIME_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    filename: str
    file_type: str
    size_bytes: int
    status: _matters_pb2.DocumentStatus
    upload_time: _timestamp_pb2.Timestamp
    def __init__(self, document_id: _Optional[str] = ..., filename: _Optional[str] = ..., file_type: _Optional[str] = ..., size_bytes: _Optional[int] = ..., status: _Optional[_Union[_matters_pb2.DocumentStatus, str]] = ..., upload_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DocumentSummary(_message.Message):
    __slots__ = ("ready_for_search", "still_processing", "failed")
    READY_FOR_SEARCH_FIELD_NUMBER: _ClassVar[int]
    STILL_PROCESSING_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    ready_for_search: int
    still_processing: int
    failed: int
    def __init__(self, ready_for_search: _Optional[int] = ..., still_processing: _Optional[int] = ..., failed: _Optional[int] = ...) -> None: ...

class ListMatterDocumentsResponse(_message.Message):
    __slots__ = ("documents", "total_size", "matter_id", "summary", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[MatterDocument]
    total_size: int
    matter_id: str
    summary: DocumentSummary
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[MatterDocument, _Mapping]]] = ..., total_size: _Optional[int] = ..., matter_id: _Optional[str] = ..., summary: _Optional[_Union[DocumentSummary, _Mapping]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetDocumentTextRequest(_message.Message):
    __slots__ = ("matter_id", "document_id", "filename", "start", "page", "heading", "max_chars")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    MAX_CHARS_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    document_id: str
    filename: str
    start: int
    page: int
    heading: str
    max_chars: int
    def __init__(self, matter_id: _Optional[str] = ..., document_id: _Optional[str] = ..., filename: _Optional[str] = ..., start: _Optional[int] = ..., page: _Optional[int] = ..., heading: _Optional[str] = ..., max_chars: _Optional[int] = ...) -> None: ...

class GetDocumentTextResponse(_message.Message):
    __slots__ = ("text", "filename", "document_id", "file_type", "character_count", "truncated", "start", "page", "section_path", "next_start")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILE_TYPE_FIELD_NUMBER: _ClassVar[int]
    CHARACTER_COUNT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    SECTION_PATH_FIELD_NUMBER: _ClassVar[int]
    NEXT_START_FIELD_NUMBER: _ClassVar[int]
    text: str
    filename: str
    document_id: str
    file_type: str
    character_count: int
    truncated: bool
    start: int
    page: int
    section_path: _containers.RepeatedScalarFieldContainer[str]
    next_start: int
    def __init__(self, text: _Optional[str] = ..., filename: _Optional[str] = ..., document_id: _Optional[str] = ..., file_type: _Optional[str] = ..., character_count: _Optional[int] = ..., truncated: _Optional[bool] = ..., start: _Optional[int] = ..., page: _Optional[int] = ..., section_path: _Optional[_Iterable[str]] = ..., next_start: _Optional[int] = ...) -> None: ...

class RetrieveDocumentationRequest(_message.Message):
    __slots__ = ("query", "page_size", "page_token")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    query: str
    page_size: int
    page_token: str
    def __init__(self, query: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class RetrieveDocumentationResponse(_message.Message):
    __slots__ = ("results", "output", "next_page_token", "total_size", "total_size_exact")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_SIZE_EXACT_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[SearchResult]
    output: str
    next_page_token: str
    total_size: int
    total_size_exact: bool
    def __init__(self, results: _Optional[_Iterable[_Union[SearchResult, _Mapping]]] = ..., output: _Optional[str] = ..., next_page_token: _Optional[str] = ..., total_size: _Optional[int] = ..., total_size_exact: _Optional[bool] = ...) -> None: ...
