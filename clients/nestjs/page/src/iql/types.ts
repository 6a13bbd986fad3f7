/** IQL as the gateway answers it (HTTP.md); names as in the contract. */

export interface IqlTemplate {
  name: string;
  arguments: string[];
  meaning: string;
}

/** A fault of a query; `start_utf16` and `end_utf16` are its place in the JavaScript string, `end` exclusive. */
export interface IqlFault {
  message: string;
  suggestions: string[];
  edits: IqlEdit[];
  start_utf16: number;
  end_utf16: number;
}

/** A change of the query that carries out a suggestion, by the suggestion's position: text in the place of a range. */
export interface IqlEdit {
  suggestion: number;
  label: string;
  start_utf16: number;
  end_utf16: number;
  text: string;
}

export interface ParsedIql {
  canonical: string;
  statements: string[];
  estimated_model_calls: number;
  errors: IqlFault[];
}

export type IqlNodeType = `IQL_NODE_TYPE_${"STATEMENT" | "TEMPLATE" | "NOT" | "AND" | "OR" | "AVERAGE" | "COMPARISON"}`;

export type IqlComparator = "IQL_COMPARATOR_GREATER" | "IQL_COMPARATOR_LESS";

/** A node of a query's tree with everything below it, and its score in a result that is explained. */
export interface IqlNode {
  type: IqlNodeType;
  score?: number;
  operands: IqlNode[];
  comparators: IqlComparator[];
  statement: string;
  template: string;
  arguments: string[];
}

export type IqlComparison = "IQL_COMPARISON_UNSPECIFIED" | "IQL_COMPARISON_CONTRACT" | "IQL_COMPARISON_VENDOR";

export type Likelihood = "LIKELIHOOD_UNSPECIFIED" | "LIKELIHOOD_UNLIKELY" | "LIKELIHOOD_POSSIBLE" | "LIKELIHOOD_LIKELY";

export interface IqlMatch {
  text: string;
  start_index: number;
  end_index: number;
  score: number;
  likelihood: Likelihood;
  citation?: { page: number; section_path: string[]; heading: string; label: string };
  explanation?: IqlNode;
}

export interface IqlDocumentResult {
  document_id: string;
  filename: string;
  score: number;
  likelihood: Likelihood;
  matches: IqlMatch[];
  match_count: number;
  error: string;
  truncated: boolean;
  explanation?: IqlNode;
  next_page_token: string;
}

export interface IqlTotals {
  documents_done: number;
  document_count: number;
  total_matches: number;
  average_score: number;
}

/** The event `document_result`. */
export interface IqlDocumentEvent {
  document_result: IqlDocumentResult;
  totals: IqlTotals;
  document_index: number;
}

/** The event `summary`, the last one. */
export interface IqlSummary {
  total_matches: number;
  average_score: number;
  document_count: number;
  model: string;
  warnings: string[];
  truncated: boolean;
}
