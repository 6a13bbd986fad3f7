"""The service's own tools."""

from proviso_service.tools.get_document_text import GetDocumentText
from proviso_service.tools.isaacus_classify import IsaacusClassify
from proviso_service.tools.isaacus_extract import IsaacusExtract
from proviso_service.tools.isaacus_iql import IsaacusIql
from proviso_service.tools.isaacus_search import IsaacusSearch
from proviso_service.tools.list_matter_documents import ListMatterDocuments
from proviso_service.tools.retriever import DocumentationRetriever

OWN_TOOL_NAMES = tuple(
    tool.name
    for tool in (
        ListMatterDocuments,
        GetDocumentText,
        IsaacusSearch,
        IsaacusExtract,
        IsaacusClassify,
        IsaacusIql,
        DocumentationRetriever,
    )
)
"""What an agent may say something of, known without making the tools."""
