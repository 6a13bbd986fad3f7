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
  tree?: IqlTree;
  canonical: string;
  statements: string[];
  estimated_model_calls: number;
  errors: IqlFault[];
}

/** The syntax tree, as the service writes it. */
export type IqlTree =
  | { type: "statement"; text: string }
  | { type: "template"; name: string; arguments: string[]; text: string }
  | { type: "not"; operand: IqlTree }
  | { type: "and" | "or" | "average"; operands: IqlTree[] }
  | { type: "comparison"; operands: IqlTree[]; comparators: (">" | "<")[] };

export type IqlComparison = "IQL_COMPARISON_UNSPECIFIED" | "IQL_COMPARISON_CONTRACT" | "IQL_COMPARISON_VENDOR";

export interface IqlMatch {
  text: string;
  start_index: number;
  end_index: number;
  score: number;
  citation?: { page: number; section_path: string[]; heading: string; label: string };
  node_scores?: number[];
}

export interface IqlDocumentResult {
  document_id: string;
  filename: string;
  score: number;
  matches: IqlMatch[];
  match_count: number;
  error: string;
  truncated: boolean;
  node_scores?: number[];
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
