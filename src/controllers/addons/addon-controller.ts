import type { AddOnEvent } from '../../core/addon/addon-duties.ts';
import type { Digest } from '../../core/publish/approval/approval-code.ts';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import type { RemovalMemory } from '../../core/publish/judge/removal-window.ts';
import type { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import { CachedController, type HubControllerOptions } from '../duties/cached-controller.ts';

/** The field manager of what the manager of add-ons writes. */
export const ADDON_MANAGER = 'berth-addons';

/** Of works the cache keeps the spec of those with the label of an add-on. */
export interface AddOnOptions extends HubControllerOptions {
  readonly onEvent?: ((event: AddOnEvent) => void) | undefined;
}

/** What is needed to install add-ons by placement, and to configure them. */
export interface AddOnManagerOptions extends AddOnOptions {
  /** What the placements of the hub select, complete decisions only. */
  readonly published: Pick<PublishedPlacements, 'get' | 'onChange'>;
  /** The placements that Berth decides: those with its annotation, all, or none. */
  readonly decides: 'own' | 'all' | 'none';
  /** How many clusters may lose an add-on at once. */
  readonly budget: RemovalBudget;
  readonly removals: RemovalMemory;
  readonly digest: Digest;
}

/** A controller of add-ons. Objects of the add-on API are read and written as v1alpha1, which every hub serves and stores. */
export abstract class AddOnController<
  Options extends AddOnOptions = AddOnOptions,
> extends CachedController<Options> {}
