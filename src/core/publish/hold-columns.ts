import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';
import type { JsonObject } from '@berth/runtime/json/json-value';

const OF_HELD = `.status.conditions[?(@.type=="${HELD_CONDITION}")]`;

/** Only `kubectl get placement -o wide` shows them: without it the table is OCM's. */
const HOLD_COLUMNS = [
  { name: 'Held', type: 'string', jsonPath: `${OF_HELD}.status`, priority: 1 },
  { name: 'Why', type: 'string', jsonPath: `${OF_HELD}.reason`, priority: 1 },
  { name: 'Since', type: 'date', jsonPath: `${OF_HELD}.lastTransitionTime`, priority: 1 },
];

/**
 * OCM's definitions, with columns of placements that say whether a change is held. For hubs that Berth makes: the definitions of a hub
 * that runs OCM are OCM's.
 * @param definitions CustomResourceDefinitions
 */
export function withHoldColumns(definitions: readonly JsonObject[]): readonly JsonObject[] {
  return definitions.map((definition) => {
    const { metadata, spec } = definition as unknown as Definition;
    if (metadata.name !== 'placements.cluster.open-cluster-management.io') return definition;
    const versions = spec.versions.map((version) => ({
      ...version,
      additionalPrinterColumns: [...(version.additionalPrinterColumns ?? []), ...HOLD_COLUMNS],
    }));
    return { ...definition, spec: { ...spec, versions } } as unknown as JsonObject;
  });
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly versions: readonly { readonly additionalPrinterColumns?: readonly object[] }[] };
}
