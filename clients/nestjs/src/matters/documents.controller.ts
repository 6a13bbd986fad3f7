import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import type { Request, Response } from "express";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { toContract, toJson } from "../contract/json.js";
import type { Json } from "../contract/json.js";
import { EventStreams } from "../http/event-streams.js";
import { Page, queryInt } from "../http/shapes.js";
import { Answers, AnswersFile, AnswersNothing, Does, Streams, TakesFile } from "../openapi/decorators.js";
import { Downloads } from "./downloads.js";
import { PageQuery, TextQuery } from "./shapes.js";
import { Uploads } from "./uploads.js";

@ApiTags("Matters and documents")
@Controller("matters/:matter_id/documents")
export class DocumentsController {
  constructor(
    @Inject(Contract) private readonly contract: Contract,
    @Inject(EventStreams) private readonly streams: EventStreams,
    @Inject(Downloads) private readonly downloads: Downloads,
    @Inject(Uploads) private readonly uploads: Uploads,
  ) {}

  @Get()
  @Does("Lists the documents of a matter.")
  @Answers("ListDocumentsResponse")
  list(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Query({ schema: Page }) page: Page,
  ): Promise<Json> {
    return this.contract.json(caller, this.contract.matters, "listDocuments", { ...toContract(page), matterId });
  }

  @Post()
  @Does("Uploads a document.")
  @TakesFile()
  @Answers("UploadDocumentResponse", 200, 201)
  async upload(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Json> {
    const stored = await this.uploads.pass(request, caller, matterId);
    response.status(stored.alreadyExisted ? 200 : 201);
    return toJson(stored);
  }

  @Get("events")
  @Does("Streams the states of a matter's documents.")
  @Streams({ document: ["WatchDocumentsResponse"] })
  async events(@From() caller: Caller, @Param("matter_id") matterId: string, @Res() response: Response): Promise<void> {
    await this.streams.answer(response, {
      items: (gate) => this.contract.stream(caller, this.contract.matters, "watchDocuments", { matterId }, gate),
      event: (change) => ({ event: "document", data: toJson(change) }),
    });
  }

  @Get(":document_id")
  @Does("Shows a document.")
  @Answers("GetDocumentResponse")
  get(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Param("document_id") documentId: string,
  ): Promise<Json> {
    return this.contract.json(caller, this.contract.matters, "getDocument", { matterId, documentId });
  }

  @Delete(":document_id")
  @HttpCode(204)
  @Does("Deletes a document.")
  @AnswersNothing()
  async delete(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Param("document_id") documentId: string,
  ): Promise<void> {
    await this.contract.ask(caller, this.contract.matters, "deleteDocument", { matterId, documentId });
  }

  @Get(":document_id/text")
  @Does("Gives a part of a document's text.")
  @Answers("GetDocumentTextResponse")
  text(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Param("document_id") documentId: string,
    @Query({ schema: TextQuery }) query: TextQuery,
  ): Promise<Json> {
    const request = { ...toContract(query), matterId, documentId };
    return this.contract.json(caller, this.contract.tools, "getDocumentText", request);
  }

  @Get(":document_id/content")
  @Does("Gives a document as it was uploaded, or a range of its bytes.")
  @AnswersFile()
  content(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Param("document_id") documentId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.downloads.pass(request, response, caller, matterId, documentId);
  }

  @Get(":document_id/pages/:page")
  @Does("Shows where the words of a page stand.")
  @Answers("GetDocumentPageResponse")
  page(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Param("document_id") documentId: string,
    @Param("page", { schema: queryInt }) page: number,
    @Query({ schema: PageQuery }) query: PageQuery,
  ): Promise<Json> {
    const request = { ...toContract(query), matterId, documentId, page };
    return this.contract.json(caller, this.contract.matters, "getDocumentPage", request);
  }
}
