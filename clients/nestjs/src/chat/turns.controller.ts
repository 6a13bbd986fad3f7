import { Body, Controller, Get, HttpCode, Inject, Param, Post, Put, Query, Res } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import { plain, turnResult } from "@proviso/client";
import type { Response } from "express";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { plainToJson, toContract } from "../contract/json.js";
import type { Json } from "../contract/json.js";
import { EventStreams } from "../http/event-streams.js";
import { WhoAsks } from "../http/shapes.js";
import { Answers, AnswersNothing, Does, StreamsTurn } from "../openapi/decorators.js";
import { LastEvent } from "./last-event.js";
import { DecisionBody, EventsQuery, RatingBody } from "./shapes.js";
import { laterTurnEvent, turnEvent } from "./turn-json.js";
import { Turns } from "./turns.js";

@ApiTags("Chat")
@Controller("turns/:turn_id")
export class TurnsController {
  constructor(
    @Inject(Contract) private readonly contract: Contract,
    @Inject(Turns) private readonly turns: Turns,
    @Inject(EventStreams) private readonly streams: EventStreams,
  ) {}

  @Get("events")
  @Does("Streams the later events of a turn; 204 where the browser has its final state already.")
  @StreamsTurn()
  @AnswersNothing()
  async events(
    @From() caller: Caller,
    @Param("turn_id") turnId: string,
    @Query({ schema: EventsQuery }) { user_id: userId = "", leave_out: names = [] }: EventsQuery,
    @LastEvent() afterSequence: number,
    @Res() response: Response,
  ): Promise<void> {
    const leaveOut = toContract(Object.fromEntries(names.map((name) => [name, true])));
    const turn = { turnId, userId, afterSequence, leaveOut };
    if (await this.turns.endedAt(caller, turn)) {
      response.status(204).end();
      return;
    }
    await this.streams.answer(response, {
      items: (gate) => this.turns.follow(caller, turn, gate),
      event: afterSequence > 0 ? laterTurnEvent : turnEvent,
      headers: () => ({ "Proviso-Turn-Id": turnId }),
    });
  }

  @Get()
  @Does("Tells where a turn is, and how it ended.")
  @Answers("GetTurnResponse")
  async turn(
    @From() caller: Caller,
    @Param("turn_id") turnId: string,
    @Query({ schema: WhoAsks }) who: WhoAsks,
  ): Promise<Json> {
    const request = { turnId, userId: who.user_id ?? "" };
    const turn = await this.contract.ask(caller, this.contract.chat, "getTurn", request);
    return plainToJson({ ...plain(turn), ...(turn.finalState && { finalState: turnResult(turn.finalState) }) });
  }

  @Post("cancel")
  @HttpCode(200)
  @Does("Cancels a turn that runs.")
  @Answers("CancelTurnResponse")
  cancel(
    @From() caller: Caller,
    @Param("turn_id") turnId: string,
    @Query({ schema: WhoAsks }) who: WhoAsks,
  ): Promise<Json> {
    const request = { turnId, userId: who.user_id ?? "" };
    return this.contract.json(caller, this.contract.chat, "cancelTurn", request);
  }

  @Post("tool-calls/:call_id/decision")
  @HttpCode(204)
  @Does("Approves or denies a tool call that a turn waits for.")
  @AnswersNothing()
  async decide(
    @From() caller: Caller,
    @Param("turn_id") turnId: string,
    @Param("call_id") callId: string,
    @Body({ schema: DecisionBody }) body: DecisionBody,
  ): Promise<void> {
    const request = {
      turnId,
      callId,
      decision: `TOOL_CALL_DECISION_${body.decision}` as const,
      userId: body.user_id ?? "",
    };
    await this.contract.ask(caller, this.contract.chat, "decideToolCall", request);
  }

  @Put("rating")
  @Does("Says how good the answer of a turn was, in place of an earlier rating; RATING_UNSPECIFIED takes it back.")
  @Answers("RateAnswerResponse")
  rate(
    @From() caller: Caller,
    @Param("turn_id") turnId: string,
    @Body({ schema: RatingBody }) body: RatingBody,
  ): Promise<Json> {
    const request = { ...toContract(body), turnId };
    return this.contract.json(caller, this.contract.sessions, "rateAnswer", request);
  }

  @Get("request")
  @Does("Builds again what the model was sent.")
  @Answers("RebuildRequestResponse")
  request(
    @From() caller: Caller,
    @Param("turn_id") turnId: string,
    @Query({ schema: WhoAsks }) who: WhoAsks,
  ): Promise<Json> {
    const request = { turnId, userId: who.user_id ?? "" };
    return this.contract.json(caller, this.contract.sessions, "rebuildRequest", request);
  }
}
