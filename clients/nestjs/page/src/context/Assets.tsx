import { Disclosure, Pill } from "../core/components/index.js";
import type { AssetUse } from "../core/contract.js";
import { SectionTitle } from "./ItemSections.js";

/** Files and images of the message, and what became of each. */
export function Assets({ assets }: { assets: readonly AssetUse[] }) {
  if (assets.length === 0) return null;
  return (
    <Disclosure class="section" isOpen summary={<SectionTitle title="Files" count={assets.length} />}>
      <ul class="items">
        {assets.map((asset) => (
          <li class="item" key={`${asset.kind} ${asset.name}`}>
            <div class="item-line">
              <span class="item-name">{asset.name}</span>
              <Pill>{asset.kind === "ASSET_KIND_IMAGE" ? "Image" : "Document"}</Pill>
              {!asset.included && <Pill tone="warning">Left out</Pill>}
            </div>
            {asset.note !== "" && <p class="item-note">{asset.note}</p>}
            {asset.text !== "" && <p class="item-note">{asset.text}</p>}
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
