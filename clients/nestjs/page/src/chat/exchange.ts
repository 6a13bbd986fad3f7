import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import type { ApiError } from "../core/api.js";
import type { ChatMessage, MatterContext } from "../core/contract.js";
import { randomId } from "../core/ids.js";
import { storedView } from "./stored-turn.js";
import { newTurnView } from "./turn-view.js";
import type { TurnView } from "./turn-view.js";

/** A question and what came of it. */
export interface Exchange {
  key: string;
  /** Empty where it is not known yet: it was asked on another page, and the turn still runs. */
  question: string;
  /** The matter and document that it was asked about; undefined where none was, and for questions of the past. */
  matterContext: MatterContext | undefined;
  /** Decisions on tool calls, in words. */
  decisions: readonly string[];
  view: Signal<TurnView>;
  /** Why there is no turn, or none that can be followed. */
  failure: Signal<ApiError | undefined>;
  /** Why the turn could not be stopped. */
  callFailure: Signal<ApiError | undefined>;
  /** Whether the final state is here, or was looked for. */
  isComplete: boolean;
}

/** An exchange that begins. */
export function newExchange(given: {
  question: string;
  matterContext?: MatterContext | undefined;
  turnId?: string;
}): Exchange {
  return {
    key: randomId(),
    question: given.question,
    matterContext: given.matterContext,
    decisions: [],
    view: signal(newTurnView(given.turnId)),
    failure: signal(undefined),
    callFailure: signal(undefined),
    isComplete: false,
  };
}

/** A session's messages, oldest first, as exchanges. */
export function exchangesOf(messages: readonly ChatMessage[]): Exchange[] {
  const byTurn = new Map<string, Exchange>();
  for (const message of messages) {
    const key = message.turn_id || message.message_id;
    const exchange = byTurn.get(key) ?? { ...newExchange({ question: "", turnId: message.turn_id }), key };
    byTurn.set(key, withMessage(exchange, message));
  }
  return [...byTurn.values()];
}

function withMessage(exchange: Exchange, message: ChatMessage): Exchange {
  switch (message.role) {
    case "MESSAGE_ROLE_USER":
      return { ...exchange, question: message.content };
    case "MESSAGE_ROLE_APPROVAL":
      return { ...exchange, decisions: [...exchange.decisions, ...message.content.split("\n")] };
    case "MESSAGE_ROLE_ASSISTANT":
    case "MESSAGE_ROLE_ERROR":
      exchange.view.value = storedView(message);
      return exchange;
    case "MESSAGE_ROLE_SYSTEM":
      return exchange;
  }
}
