import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
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
IQL_COMPARISON_UNSPECIFIED: IqlComparison
IQL_COMPARISON_CONTRACT: IqlComparison
IQL_COMPARISON_VENDOR: IqlComparison

class ExecuteIqlRequest(_message.Message):
    __slots__ = ("matter_id", "query", "document_ids", "model", "min_score", "comparison", "max_matches", "explain")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    COMPARISON_FIELD_NUMBER: _ClassVar[int]
    MAX_MATCHES_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    query: str
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    model: str
    min_score: float
    comparison: IqlComparison
    max_matches: int
    explain: bool
    def __init__(self, matter_id: _Optional[str] = ..., query: _Optional[str] = ..., document_ids: _Optional[_Iterable[str]] = ..., model: _Optional[str] = ..., min_score: _Optional[float] = ..., comparison: _Optional[_Union[IqlComparison, str]] = ..., max_matches: _Optional[int] = ..., explain: _Optional[bool] = ...) -> None: ...

class IqlStatementScore(_message.Message):
    __slots__ = ("statement", "score")
    STATEMENT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    statement: str
    score: float
    def __init__(self, statement: _Optional[str] = ..., score: _Optional[float] = ...) -> None: ...

class IqlMatch(_message.Message):
    __slots__ = ("text", "start_index", "end_index", "score", "citation", "statement_scores", "node_scores")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    END_INDEX_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_SCORES_FIELD_NUMBER: _ClassVar[int]
    NODE_SCORES_FIELD_NUMBER: _ClassVar[int]
    text: str
    start_index: int
    end_index: int
    score: float
    citation: SearchCitation
    statement_scores: _containers.RepeatedCompositeFieldContainer[IqlStatementScore]
    node_scores: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, text: _Optional[str] = ..., start_index: _Optional[int] = ..., end_index: _Optional[int] = ..., score: _Optional[float] = ..., citation: _Optional[_Union[SearchCitation, _Mapping]] = ..., statement_scores: _Optional[_Iterable[_Union[IqlStatementScore, _Mapping]]] = ..., node_scores: _Optional[_Iterable[float]] = ...) -> None: ...

class IqlDocumentResult(_message.Message):
    __slots__ = ("document_id", "filename", "score", "matches", "match_count", "error", "truncated", "statement_scores", "node_scores")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    MATCH_COUNT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    STATEMENT_SCORES_FIELD_NUMBER: _ClassVar[int]
    NODE_SCORES_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    filename: str
    score: float
    matches: _containers.RepeatedCompositeFieldContainer[IqlMatch]
    match_count: int
    error: str
    truncated: bool
    statement_scores: _containers.RepeatedCompositeFieldContainer[IqlStatementScore]
    node_scores: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, document_id: _Optional[str] = ..., filename: _Optional[str] = ..., score: _Optional[float] = ..., matches: _Optional[_Iterable[_Union[IqlMatch, _Mapping]]] = ..., match_count: _Optional[int] = ..., error: _Optional[str] = ..., truncated: _Optional[bool] = ..., statement_scores: _Optional[_Iterable[_Union[IqlStatementScore, _Mapping]]] = ..., node_scores: _Optional[_Iterable[float]] = ...) -> None: ...

class ExecuteIqlResponse(_message.Message):
    __slots__ = ("query", "document_results", "total_matches", "average_score", "model", "warnings", "document_count", "truncated")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_RESULTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_MATCHES_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_SCORE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    query: str
    document_results: _containers.RepeatedCompositeFieldContainer[IqlDocumentResult]
    total_matches: int
    average_score: float
    model: str
    warnings: _containers.RepeatedScalarFieldContainer[str]
    document_count: int
    truncated: bool
    def __init__(self, query: _Optional[str] = ..., document_results: _Optional[_Iterable[_Union[IqlDocumentResult, _Mapping]]] = ..., total_matches: _Optional[int] = ..., average_score: _Optional[float] = ..., model: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ..., document_count: _Optional[int] = ..., truncated: _Optional[bool] = ...) -> None: ...

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
    __slots__ = ()
    def __init__(self) -> None: ...

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
    __slots__ = ("templates",)
    TEMPLATES_FIELD_NUMBER: _ClassVar[int]
    templates: _containers.RepeatedCompositeFieldContainer[IqlTemplate]
    def __init__(self, templates: _Optional[_Iterable[_Union[IqlTemplate, _Mapping]]] = ...) -> None: ...

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
    __slots__ = ("tree_json", "canonical", "statements", "estimated_model_calls", "errors")
    TREE_JSON_FIELD_NUMBER: _ClassVar[int]
    CANONICAL_FIELD_NUMBER: _ClassVar[int]
    STATEMENTS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    tree_json: str
    canonical: str
    statements: _containers.RepeatedScalarFieldContainer[str]
    estimated_model_calls: int
    errors: _containers.RepeatedCompositeFieldContainer[IqlError]
    def __init__(self, tree_json: _Optional[str] = ..., canonical: _Optional[str] = ..., statements: _Optional[_Iterable[str]] = ..., estimated_model_calls: _Optional[int] = ..., errors: _Optional[_Iterable[_Union[IqlError, _Mapping]]] = ...) -> None: ...

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
    __slots__ = ("matter_id", "query", "max_results", "threshold", "semantic_weight", "include_context", "document_ids")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MAX_RESULTS_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    SEMANTIC_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    query: str
    max_results: int
    threshold: float
    semantic_weight: float
    include_context: bool
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, matter_id: _Optional[str] = ..., query: _Optional[str] = ..., max_results: _Optional[int] = ..., threshold: _Optional[float] = ..., semantic_weight: _Optional[float] = ..., include_context: _Optional[bool] = ..., document_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class SearchResult(_message.Message):
    __slots__ = ("document_id", "chunk_id", "filename", "chunk_text", "similarity", "rerank_score", "citation", "context_before", "context_after", "score", "lexical_match", "snippet")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    CHUNK_TEXT_FIELD_NUMBER: _ClassVar[int]
    SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    RERANK_SCORE_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_AFTER_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    LEXICAL_MATCH_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    chunk_id: str
    filename: str
    chunk_text: str
    similarity: float
    rerank_score: float
    citation: SearchCitation
    context_before: str
    context_after: str
    score: float
    lexical_match: bool
    snippet: SearchSnippet
    def __init__(self, document_id: _Optional[str] = ..., chunk_id: _Optional[str] = ..., filename: _Optional[str] = ..., chunk_text: _Optional[str] = ..., similarity: _Optional[float] = ..., rerank_score: _Optional[float] = ..., citation: _Optional[_Union[SearchCitation, _Mapping]] = ..., context_before: _Optional[str] = ..., context_after: _Optional[str] = ..., score: _Optional[float] = ..., lexical_match: _Optional[bool] = ..., snippet: _Optional[_Union[SearchSnippet, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("results", "total_found", "query", "matter_id", "reranked", "documents_available", "documents_processing", "truncated", "documents_matching")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FOUND_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    RERANKED_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_PROCESSING_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_MATCHING_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[SearchResult]
    total_found: int
    query: str
    matter_id: str
    reranked: bool
    documents_available: _containers.RepeatedScalarFieldContainer[str]
    documents_processing: _containers.RepeatedScalarFieldContainer[str]
    truncated: bool
    documents_matching: _containers.RepeatedCompositeFieldContainer[DocumentHits]
    def __init__(self, results: _Optional[_Iterable[_Union[SearchResult, _Mapping]]] = ..., total_found: _Optional[int] = ..., query: _Optional[str] = ..., matter_id: _Optional[str] = ..., reranked: _Optional[bool] = ..., documents_available: _Optional[_Iterable[str]] = ..., documents_processing: _Optional[_Iterable[str]] = ..., truncated: _Optional[bool] = ..., documents_matching: _Optional[_Iterable[_Union[DocumentHits, _Mapping]]] = ...) -> None: ...

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
    __slots__ = ("document_id", "filename", "error")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    filename: str
    error: str
    def __init__(self, document_id: _Optional[str] = ..., filename: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class ExtractRequest(_message.Message):
    __slots__ = ("matter_id", "question", "document_ids", "min_confidence", "max_alternatives")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    MIN_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    MAX_ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    question: str
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    min_confidence: float
    max_alternatives: int
    def __init__(self, matter_id: _Optional[str] = ..., question: _Optional[str] = ..., document_ids: _Optional[_Iterable[str]] = ..., min_confidence: _Optional[float] = ..., max_alternatives: _Optional[int] = ...) -> None: ...

class ExtractCitation(_message.Message):
    __slots__ = ("document_id", "chunk_id", "filename", "text_excerpt", "relevance_score", "answer_start", "answer_end", "citation")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    TEXT_EXCERPT_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_SCORE_FIELD_NUMBER: _ClassVar[int]
    ANSWER_START_FIELD_NUMBER: _ClassVar[int]
    ANSWER_END_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    chunk_id: str
    filename: str
    text_excerpt: str
    relevance_score: float
    answer_start: int
    answer_end: int
    citation: SearchCitation
    def __init__(self, document_id: _Optional[str] = ..., chunk_id: _Optional[str] = ..., filename: _Optional[str] = ..., text_excerpt: _Optional[str] = ..., relevance_score: _Optional[float] = ..., answer_start: _Optional[int] = ..., answer_end: _Optional[int] = ..., citation: _Optional[_Union[SearchCitation, _Mapping]] = ...) -> None: ...

class ExtractAlternative(_message.Message):
    __slots__ = ("answer", "confidence", "citation")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    answer: str
    confidence: float
    citation: ExtractCitation
    def __init__(self, answer: _Optional[str] = ..., confidence: _Optional[float] = ..., citation: _Optional[_Union[ExtractCitation, _Mapping]] = ...) -> None: ...

class ExtractResponse(_message.Message):
    __slots__ = ("answer", "confidence", "citations", "question", "found", "alternatives", "model", "document_errors", "truncated")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ERRORS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    answer: str
    confidence: float
    citations: _containers.RepeatedCompositeFieldContainer[ExtractCitation]
    question: str
    found: bool
    alternatives: _containers.RepeatedCompositeFieldContainer[ExtractAlternative]
    model: str
    document_errors: _containers.RepeatedCompositeFieldContainer[DocumentError]
    truncated: bool
    def __init__(self, answer: _Optional[str] = ..., confidence: _Optional[float] = ..., citations: _Optional[_Iterable[_Union[ExtractCitation, _Mapping]]] = ..., question: _Optional[str] = ..., found: _Optional[bool] = ..., alternatives: _Optional[_Iterable[_Union[ExtractAlternative, _Mapping]]] = ..., model: _Optional[str] = ..., document_errors: _Optional[_Iterable[_Union[DocumentError, _Mapping]]] = ..., truncated: _Optional[bool] = ...) -> None: ...

class ClassifyRequest(_message.Message):
    __slots__ = ("matter_id", "clause_types", "document_ids", "min_confidence", "max_clauses")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    CLAUSE_TYPES_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    MIN_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    MAX_CLAUSES_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    clause_types: _containers.RepeatedScalarFieldContainer[str]
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    min_confidence: float
    max_clauses: int
    def __init__(self, matter_id: _Optional[str] = ..., clause_types: _Optional[_Iterable[str]] = ..., document_ids: _Optional[_Iterable[str]] = ..., min_confidence: _Optional[float] = ..., max_clauses: _Optional[int] = ...) -> None: ...

class ClassifiedClause(_message.Message):
    __slots__ = ("clause_type", "confidence", "text_excerpt", "document_id", "filename", "start", "end", "chunk_id", "citation")
    CLAUSE_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TEXT_EXCERPT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    clause_type: str
    confidence: float
    text_excerpt: str
    document_id: str
    filename: str
    start: int
    end: int
    chunk_id: str
    citation: SearchCitation
    def __init__(self, clause_type: _Optional[str] = ..., confidence: _Optional[float] = ..., text_excerpt: _Optional[str] = ..., document_id: _Optional[str] = ..., filename: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., chunk_id: _Optional[str] = ..., citation: _Optional[_Union[SearchCitation, _Mapping]] = ...) -> None: ...

class ClassifyResponse(_message.Message):
    __slots__ = ("clauses", "total_found", "clause_types_searched", "truncated", "document_errors", "model", "counts")
    CLAUSES_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FOUND_FIELD_NUMBER: _ClassVar[int]
    CLAUSE_TYPES_SEARCHED_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ERRORS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    clauses: _containers.RepeatedCompositeFieldContainer[ClassifiedClause]
    total_found: int
    clause_types_searched: _containers.RepeatedScalarFieldContainer[str]
    truncated: bool
    document_errors: _containers.RepeatedCompositeFieldContainer[DocumentError]
    model: str
    counts: _containers.RepeatedCompositeFieldContainer[ClauseTypeCount]
    def __init__(self, clauses: _Optional[_Iterable[_Union[ClassifiedClause, _Mapping]]] = ..., total_found: _Optional[int] = ..., clause_types_searched: _Optional[_Iterable[str]] = ..., truncated: _Optional[bool] = ..., document_errors: _Optional[_Iterable[_Union[DocumentError, _Mapping]]] = ..., model: _Optional[str] = ..., counts: _Optional[_Iterable[_Union[ClauseTypeCount, _Mapping]]] = ...) -> None: ...

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
    __slots__ = ("matter_id",)
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    def __init__(self, matter_id: _Optional[str] = ...) -> None: ...

class MatterDocument(_message.Message):
    __slots__ = ("document_id", "filename", "file_type", "file_size", "processing_status", "uploaded_at")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    FILE_TYPE_FIELD_NUMBER: _ClassVar[int]
    FILE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PROCESSING_STATUS_FIELD_NUMBER: _ClassVar[int]
    UPLOADED_AT_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    filename: str
    file_type: str
    file_size: int
    processing_status: str
    uploaded_at: _timestamp_pb2.Timestamp
    def __init__(self, document_id: _Optional[str] = ..., filename: _Optional[str] = ..., file_type: _Optional[str] = ..., file_size: _Optional[int] = ..., processing_status: _Optional[str] = ..., uploaded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

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
    __slots__ = ("documents", "total_count", "matter_id", "summary", "truncated")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[MatterDocument]
    total_count: int
    matter_id: str
    summary: DocumentSummary
    truncated: bool
    def __init__(self, documents: _Optional[_Iterable[_Union[MatterDocument, _Mapping]]] = ..., total_count: _Optional[int] = ..., matter_id: _Optional[str] = ..., summary: _Optional[_Union[DocumentSummary, _Mapping]] = ..., truncated: _Optional[bool] = ...) -> None: ...

class GetDocumentTextRequest(_message.Message):
    __slots__ = ("matter_id", "document_id", "filename", "max_length", "start", "page", "heading")
    MATTER_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    MAX_LENGTH_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    HEADING_FIELD_NUMBER: _ClassVar[int]
    matter_id: str
    document_id: str
    filename: str
    max_length: int
    start: int
    page: int
    heading: str
    def __init__(self, matter_id: _Optional[str] = ..., document_id: _Optional[str] = ..., filename: _Optional[str] = ..., max_length: _Optional[int] = ..., start: _Optional[int] = ..., page: _Optional[int] = ..., heading: _Optional[str] = ...) -> None: ...

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
    __slots__ = ("query", "max_results")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MAX_RESULTS_FIELD_NUMBER: _ClassVar[int]
    query: str
    max_results: int
    def __init__(self, query: _Optional[str] = ..., max_results: _Optional[int] = ...) -> None: ...

class RetrieveDocumentationResponse(_message.Message):
    __slots__ = ("results", "output")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[SearchResult]
    output: str
    def __init__(self, results: _Optional[_Iterable[_Union[SearchResult, _Mapping]]] = ..., output: _Optional[str] = ...) -> None: ...
