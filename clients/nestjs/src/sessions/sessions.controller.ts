import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import { Assets } from "../chat/assets.js";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { toContract, toJson } from "../contract/json.js";
import type { Json } from "../contract/json.js";
import { WhoAsks } from "../http/shapes.js";
import { Answers, AnswersNothing, Does } from "../openapi/decorators.js";
import { ProjectMetadataOfSessions } from "../project-metadata/project-metadata.js";
import { ContinueBody, ItemBody, ItemQuery, PageOfUser, PreviewBody, SessionBody, SessionChanges } from "./shapes.js";

@ApiTags("Sessions")
@Controller("sessions")
export class SessionsController {
  constructor(
    @Inject(Contract) private readonly contract: Contract,
    @Inject(Assets) private readonly assets: Assets,
    @Inject(ProjectMetadataOfSessions) private readonly projects: ProjectMetadataOfSessions,
  ) {}

  @Get()
  @Does("Lists the sessions.")
  @Answers("ListSessionsResponse")
  list(@From() caller: Caller, @Query({ schema: PageOfUser }) page: PageOfUser): Promise<Json> {
    return this.contract.json(caller, this.contract.sessions, "listSessions", toContract(page));
  }

  @Post()
  @Does("Makes a session.")
  @Answers("CreateSessionResponse", 201)
  create(@From() caller: Caller, @Body({ schema: SessionBody }) body: SessionBody): Promise<Json> {
    return this.contract.json(caller, this.contract.sessions, "createSession", toContract(body));
  }

  @Get(":session_id")
  @Does("Shows a session.")
  @Answers("GetSessionResponse")
  get(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Query({ schema: WhoAsks }) who: WhoAsks,
  ): Promise<Json> {
    const request = { ...toContract(who), sessionId };
    return this.contract.json(caller, this.contract.sessions, "getSession", request);
  }

  @Patch(":session_id")
  @Does("Changes the title or the notes of a session.")
  @Answers("UpdateSessionResponse")
  update(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Body({ schema: SessionChanges }) body: SessionChanges,
  ): Promise<Json> {
    const { user_id: userId = "", ...changes } = body;
    const request = { session: { ...changes, sessionId }, updateMask: { paths: Object.keys(changes) }, userId };
    return this.contract.json(caller, this.contract.sessions, "updateSession", request);
  }

  @Delete(":session_id")
  @HttpCode(204)
  @Does("Deletes a session and its project metadata.")
  @AnswersNothing()
  async delete(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Query({ schema: WhoAsks }) who: WhoAsks,
  ): Promise<void> {
    await this.projects.deleteSession(caller, { sessionId, userId: who.user_id ?? "" });
  }

  @Post(":session_id/continue")
  @Does(
    "Makes a session that goes on from another one, with its items, its matter, its last messages and its metadata.",
  )
  @Answers("ContinueSessionResponse", 201)
  async goOn(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Body({ schema: ContinueBody }) body: ContinueBody,
  ): Promise<Json> {
    return toJson(await this.projects.continueSession(caller, { ...toContract(body), sessionId }));
  }

  @Get(":session_id/messages")
  @Does("Lists the messages of a session.")
  @Answers("ListMessagesResponse")
  messages(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Query({ schema: PageOfUser }) page: PageOfUser,
  ): Promise<Json> {
    const request = { ...toContract(page), sessionId };
    return this.contract.json(caller, this.contract.sessions, "listMessages", request);
  }

  @Post(":session_id/context-items")
  @HttpCode(200)
  @Does("Adds an item to a session.")
  @Answers("AddContextItemResponse")
  addItem(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Body({ schema: ItemBody }) body: ItemBody,
  ): Promise<Json> {
    const { userId, ...item } = toContract(body);
    return this.contract.json(caller, this.contract.sessions, "addContextItem", { sessionId, userId, item });
  }

  @Delete(":session_id/context-items")
  @Does("Removes an item from a session.")
  @Answers("RemoveContextItemResponse")
  removeItem(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Query({ schema: ItemQuery }) query: ItemQuery,
  ): Promise<Json> {
    const { userId, ...item } = toContract(query);
    return this.contract.json(caller, this.contract.sessions, "removeContextItem", { sessionId, userId, item });
  }

  @Post(":session_id/preview")
  @HttpCode(200)
  @Does("Tells what would enter the answer to a message.")
  @Answers("PreviewRequestContextResponse")
  async preview(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Body({ schema: PreviewBody }) body: PreviewBody,
  ): Promise<Json> {
    const message = toContract(await this.assets.added(caller, body, sessionId));
    return this.contract.json(caller, this.contract.sessions, "previewRequestContext", { ...message, sessionId });
  }

  @Get(":session_id/suggested-removals")
  @Does("Names items that the answers do not use.")
  @Answers("SuggestRemovalsResponse")
  suggestedRemovals(
    @From() caller: Caller,
    @Param("session_id") sessionId: string,
    @Query({ schema: WhoAsks }) who: WhoAsks,
  ): Promise<Json> {
    const request = { ...toContract(who), sessionId };
    return this.contract.json(caller, this.contract.sessions, "suggestRemovals", request);
  }
}
