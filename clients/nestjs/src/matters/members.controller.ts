import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Put, Query } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { toContract } from "../contract/json.js";
import type { Json } from "../contract/json.js";
import { Page } from "../http/shapes.js";
import { Answers, AnswersNothing, Does } from "../openapi/decorators.js";
import { MemberBody } from "./shapes.js";

@ApiTags("Matters and documents")
@Controller("matters/:matter_id/members")
export class MembersController {
  constructor(@Inject(Contract) private readonly contract: Contract) {}

  @Get()
  @Does("Lists the members of a matter.")
  @Answers("ListMatterMembersResponse")
  list(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Query({ schema: Page }) query: Page,
  ): Promise<Json> {
    const request = { ...toContract(query), matterId };
    return this.contract.json(caller, this.contract.matters, "listMatterMembers", request);
  }

  @Put(":user_id")
  @Does("Makes a user a member of a matter, or gives a member another role.")
  @Answers("GrantMatterAccessResponse")
  grant(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Param("user_id") userId: string,
    @Body({ schema: MemberBody }) { role }: MemberBody,
  ): Promise<Json> {
    const request = { matterId, member: { userId, role } };
    return this.contract.json(caller, this.contract.matters, "grantMatterAccess", request);
  }

  @Delete(":user_id")
  @HttpCode(204)
  @Does("Ends a membership.")
  @AnswersNothing()
  async revoke(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Param("user_id") memberUserId: string,
  ): Promise<void> {
    await this.contract.ask(caller, this.contract.matters, "revokeMatterAccess", { matterId, memberUserId });
  }
}
