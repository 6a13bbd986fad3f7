/**
 * The gateway's JSON as the page reads it: names as in the contract, times ISO 8601, durations milliseconds, offsets
 * code points. Empty strings, zero and false stand for what is not there; absent messages are left out.
 */

export interface MatterContext {
  matter_id: string;
  matter_name: string;
  document_id: string;
  document_name: string;
}

export interface Matter {
  matter_id: string;
  name: string;
  create_time?: string;
  document_count: number;
  ready_count: number;
  notes: string;
  /** What the caller may do in it. */
  role: "MATTER_ROLE_UNSPECIFIED" | "MATTER_ROLE_READER" | "MATTER_ROLE_EDITOR" | "MATTER_ROLE_OWNER";
}

/** A member of a matter. */
export interface Member {
  user_id: string;
  role: Matter["role"];
}

export type CallerRole =
  | "CALLER_ROLE_UNSPECIFIED"
  | "CALLER_ROLE_ADMIN"
  | "CALLER_ROLE_AUDITOR"
  | "CALLER_ROLE_OPERATOR"
  | "CALLER_ROLE_ACT_FOR_USERS";

/** Whom the service takes the page for. */
export interface Caller {
  tenant: string;
  user_id: string;
  roles: CallerRole[];
  /** False where the service asks nobody who he is. */
  authenticated: boolean;
}

export type DocumentStatus =
  "DOCUMENT_STATUS_PENDING" | "DOCUMENT_STATUS_PROCESSING" | "DOCUMENT_STATUS_READY" | "DOCUMENT_STATUS_FAILED";

export interface Document {
  document_id: string;
  matter_id: string;
  filename: string;
  media_type: string;
  size_bytes: number;
  status: DocumentStatus;
  failure_reason: string;
  /** What to know of it, for people. */
  warnings?: string[];
  character_count: number;
  chunk_count: number;
  page_count: number;
  upload_time?: string;
  replaces_document_id: string;
}

export type ItemType = "CONTEXT_ITEM_TYPE_RULE" | "CONTEXT_ITEM_TYPE_REFERENCE" | "CONTEXT_ITEM_TYPE_TOOL";
export type IncludeMode = "INCLUDE_MODE_ALWAYS" | "INCLUDE_MODE_MANUAL" | "INCLUDE_MODE_AGENT";

export interface ItemRef {
  type: ItemType;
  name: string;
  server_name: string;
}

export interface ContextItem extends ItemRef {
  include_mode: IncludeMode;
  similarity_score?: number;
  content_sha256: string;
  missing: boolean;
  note: string;
  cited: boolean;
}

export type OmissionReason =
  | "OMISSION_REASON_BELOW_THRESHOLD"
  | "OMISSION_REASON_BUDGET"
  | "OMISSION_REASON_SEARCH_FAILED"
  | "OMISSION_REASON_DISABLED";

export interface OmittedItem {
  item: ItemRef;
  reason: OmissionReason;
  score?: number;
}

export interface AssetUse {
  kind: "ASSET_KIND_DOCUMENT" | "ASSET_KIND_IMAGE";
  name: string;
  included: boolean;
  note: string;
  text: string;
  media_type: string;
}

export interface ContextFill {
  characters_used: number;
  characters_limit: number;
  tokens_used?: number;
  tokens_limit?: number;
  item_characters: number;
  item_characters_limit: number;
  item_tokens: number;
  item_tokens_limit: number;
  near_limit: boolean;
}

export interface RequestContext {
  items: ContextItem[];
  omitted: OmittedItem[];
  matter_context?: MatterContext;
  assets: AssetUse[];
  fill?: ContextFill;
  timestamp?: string;
  payload_sha256: string;
}

/** A range of JavaScript's string, end exclusive. */
export interface Utf16Range {
  start: number;
  end: number;
}

/** Newer kinds may come: what is no document has no text to open. */
export type CitationKind = `CITATION_KIND_${"DOCUMENT" | "TOOL_CALL" | "REFERENCE" | "ASSET"}`;

export interface Citation {
  kind: CitationKind;
  /** 0 where the answer names or quotes its source without a number. */
  number: number;
  answer_start: number;
  answer_end: number;
  answer_utf16?: Utf16Range;
  /** Of a document: its matter, or "documentation". */
  matter_id: string;
  document_id: string;
  filename: string;
  start: number;
  end: number;
  page: number;
  heading: string;
  quote: string;
  permalink: string;
  /** The tool call that is cited. */
  call_id: string;
  /** Name of the tool, or of the reference. */
  name: string;
  server_name: string;
}

export type ExitReason = `EXIT_REASON_${
  | "COMPLETED"
  | "MAX_TURNS_REACHED"
  | "MAX_TOOL_CALLS_REACHED"
  | "MAX_CONTEXT_REACHED"
  | "EMPTY_INPUT"
  | "RATE_LIMITED"
  | "LLM_ERROR"
  | "LLM_GENERATION_FAILURE"
  | "INVALID_TOOL_CALL"
  | "CANCELLED"
  | "DEADLINE_EXCEEDED"
  | "INTERNAL_ERROR"}`;

export type ExitCause = `EXIT_CAUSE_${
  | "UNSPECIFIED"
  | "BLOCKED"
  | "CUT"
  | "RECITATION"
  | "LANGUAGE"
  | "EMPTY"
  | "MALFORMED"
  | "UNGROUNDED"
  | "NOTHING_FOUND"
  | "STOPPED"
  | "MESSAGE_TOO_LONG"
  | "CONVERSATION_FULL"
  | "PROVIDER_PAUSED"
  | "PROVIDER_FAILED"
  | "PROVIDER_REFUSED"
  | "OVER_BUDGET"
  | "ABANDONED"
  | "STOPPING"
  | "CANCELLED_BY_CALLER"}`;

export type Retryable = "RETRYABLE_YES" | "RETRYABLE_NO" | "RETRYABLE_MAYBE" | "RETRYABLE_NOT_APPLICABLE";

export type ContextProblem = `CONTEXT_PROBLEM_${
  | "UNSPECIFIED"
  | "MATTER_REQUIRED"
  | "MATTER_NOT_FOUND"
  | "DOCUMENT_PROCESSING"
  | "DOCUMENT_FAILED"
  | "DOCUMENT_NOT_FOUND"
  | "CONTEXT_UNCLEAR"}`;

export type Decision = "APPROVE_ONCE" | "APPROVE_FOR_SESSION" | "DENY";

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  model_calls: number;
  cached_input_tokens: number;
}

export interface ToolCallRecord {
  call_id: string;
  tool: string;
  server_name: string;
  input_json: string;
  error: string;
  start_time?: string;
  duration_ms?: number;
  from_cache: boolean;
  decision: `TOOL_CALL_DECISION_${Decision | "UNSPECIFIED"}`;
}

export interface FinalState {
  exit_reason: ExitReason;
  exit_cause: ExitCause;
  retryable: Retryable;
  retry_after_ms?: number;
  display_message: boolean;
  message: string;
  request_context?: RequestContext;
  citations: Citation[];
  usage?: Usage;
  cycles: number;
  tool_calls: number;
  from_cache: boolean;
  context_problem: ContextProblem;
  duration_ms?: number;
  tool_call_records: ToolCallRecord[];
  omitted_sentences: number;
  message_truncated: boolean;
  removed_markup: number;
}

interface EventCommon {
  turn_id: string;
  sequence: number;
  emit_time?: string;
}

export interface ApprovalRequired {
  call_id: string;
  tool: string;
  server_name: string;
  input_json: string;
  expire_time?: string;
}

export interface TurnEventData {
  turn_start: EventCommon & { request_context?: RequestContext; session_id: string; model: string };
  token: EventCommon & { text_id: string; text: string; first_sequence: number };
  text_discarded: EventCommon & { text_id: string; reason: string };
  tool_start: EventCommon & { call_id: string; tool: string; server_name: string; input_json: string };
  tool_end: EventCommon & {
    call_id: string;
    tool: string;
    output: string;
    output_json: string;
    truncated: boolean;
    error: string;
    duration_ms?: number;
    from_cache: boolean;
  };
  citation: EventCommon & Citation;
  approval_required: EventCommon & ApprovalRequired;
  final_state: EventCommon & FinalState;
}

export type TurnEvent = { [K in keyof TurnEventData]: { kind: K; data: TurnEventData[K] } }[keyof TurnEventData];

export type TurnState = "TURN_STATE_RUNNING" | "TURN_STATE_AWAITING_APPROVAL" | "TURN_STATE_ENDED";

export interface Turn {
  turn_id: string;
  state: TurnState;
  last_sequence: number;
  final_state?: FinalState;
  pending_approvals: ApprovalRequired[];
}

export interface TurnSummary {
  exit_reason: ExitReason;
  exit_cause: ExitCause;
  tool_calls: ToolCallRecord[];
  usage?: Usage;
  duration_ms?: number;
  model: string;
}

export type MessageRole = `MESSAGE_ROLE_${"USER" | "SYSTEM" | "ERROR" | "APPROVAL" | "ASSISTANT"}`;

export interface ChatMessage {
  role: MessageRole;
  content: string;
  request_context?: RequestContext;
  create_time?: string;
  turn_id: string;
  message_id: string;
  turn?: TurnSummary;
  rating?: AnswerRating;
}

export type RatingReason = `RATING_REASON_${
  "UNSPECIFIED" | "INCORRECT" | "INCOMPLETE" | "WRONG_SOURCE" | "UNCLEAR" | "OFF_TOPIC" | "TOO_SLOW" | "OTHER"}`;

/** What a person says of an answer; UNSPECIFIED takes it back. */
export interface GivenRating {
  rating: `RATING_${"UNSPECIFIED" | "UP" | "DOWN"}`;
  reason?: RatingReason;
  text?: string;
}

export type AnswerRating = Required<GivenRating> & { rate_time?: string };

export interface SessionItem {
  item: ItemRef;
  include_mode: IncludeMode;
  missing: boolean;
}

export interface Session {
  session_id: string;
  items: SessionItem[];
  matter_context?: MatterContext;
  create_time?: string;
  update_time?: string;
  running_turn_id: string;
  message_count: number;
  approved_tools: ItemRef[];
  title: string;
  notes: string;
}

export interface CatalogItem {
  item: ItemRef;
  description: string;
  include_mode: IncludeMode;
  characters: number;
  content_sha256: string;
  priority: number;
  enabled: boolean;
  approval: "TOOL_APPROVAL_UNSPECIFIED" | "TOOL_APPROVAL_NONE" | "TOOL_APPROVAL_REQUIRED";
}

export interface RemovalSuggestion {
  item: SessionItem;
  answers: number;
}

export interface RebuiltRequest {
  payload_json: string;
  payload_sha256: string;
  recorded_sha256: string;
  matches: boolean;
  differences: { item: ItemRef; change: string; used_sha256: string; current_sha256: string }[];
  system_prompt_changed: boolean;
  truncated: boolean;
}
