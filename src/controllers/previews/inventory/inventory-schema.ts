import { z } from 'zod';
import { INVENTORY_VERSION } from '../../../core/preview/inventory/inventory.ts';

const kind = z.strictObject({
  group: z.string(),
  version: z.string(),
  kind: z.string(),
  plural: z.string(),
  namespaced: z.boolean(),
});

/** The parts of an inventory that all readers rely on. The objects are stored as the hub had them. */
export const inventorySchema = z.strictObject({
  kind: z.literal('BerthInventory'),
  version: z.literal(INVENTORY_VERSION),
  takenAt: z.iso.datetime({ offset: true }),
  hub: z.string(),
  engine: z.string(),
  argocdNamespace: z.string().min(1),
  kinds: z.array(kind),
  objects: z.array(
    z.looseObject({
      apiVersion: z.string(),
      kind: z.string(),
      metadata: z.looseObject({
        name: z.string(),
        namespace: z.string().optional(),
        labels: z.record(z.string(), z.string()).optional(),
        annotations: z.record(z.string(), z.string()).optional(),
      }),
    }),
  ),
  unread: z.array(z.strictObject({ group: z.string(), kind: z.string(), problem: z.string() })),
});
