import { readHubSnapshot } from '../../../../controllers/explanations/offline-snapshot.ts';
import { readDecidedPlacements } from '../../../../controllers/inventory/schedulable-placement.ts';
import { InventoryApi } from '../../../../controllers/previews/inventory/inventory-api.ts';
import { DryRunTrials, notAskedNote } from '../../../../controllers/previews/held/hub-trials.ts';
import type { PlanRevisionsInput } from '../../../../controllers/previews/plan-revisions.ts';
import { readRecordedHubState } from '../../../../controllers/previews/recorded-hub-state.ts';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { inventoryNote } from '../../../../core/preview/inventory/inventory-note.ts';
import { type ArgoPart, readArgoPart } from '../../../generator-inputs/plan-inputs.ts';
import type { OpenedInventory } from './plan-inventory.ts';

/** The inputs of a plan that are read from a hub. */
export type HubPart = Pick<PlanRevisionsInput, 'hub' | 'hubMemory' | 'hubApi' | 'decides' | 'trials'> &
  ArgoPart;

export interface HubReading {
  /** RFC 3339; undefined: now. */
  readonly now: string | undefined;
  readonly sources: readonly string[];
  readonly argocdNamespace: string;
}

async function readHubPart(hubApi: KubeApi, reading: HubReading): Promise<HubPart> {
  const { sources, argocdNamespace, now = new Date().toISOString() } = reading;
  return {
    hub: await readHubSnapshot(hubApi, now),
    hubMemory: await readRecordedHubState(hubApi, sources),
    hubApi,
    decides: await readDecidedPlacements(hubApi),
    ...(await readArgoPart(hubApi, argocdNamespace)),
  };
}

/** The parts of a hub that is asked what it would hold, with the rights of the caller, unless `dryRuns` is false. */
export async function liveHubPart(
  hubApi: KubeApi,
  reading: HubReading & { readonly given: 'all' | undefined; readonly dryRuns: boolean },
): Promise<HubPart> {
  const part = await readHubPart(hubApi, reading);
  const decides = reading.given ?? part.decides;
  if (!reading.dryRuns)
    return { ...part, decides, notes: [notAskedNote('as --no-dry-runs says'), ...(part.notes ?? [])] };
  const trials = new DryRunTrials({ api: hubApi, annotatePlacements: decides === 'own' });
  return { ...part, decides, trials };
}

/** The same parts from an inventory. The plan is made for the time at which the inventory was written. */
export async function inventoryPart(
  { inventory, isVerified }: OpenedInventory,
  reading: HubReading & { readonly nowMs: number; readonly engine: string },
): Promise<HubPart> {
  const { nowMs, engine, now = inventory.takenAt } = reading;
  const part = await readHubPart(new InventoryApi(inventory), { ...reading, now });
  const note = inventoryNote(inventory, { nowMs, engine, isVerified });
  return { ...part, notes: [note, ...(part.notes ?? [])] };
}
