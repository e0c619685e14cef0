import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { Leadership } from '../../../runtime/leader-election/leadership.ts';
import type { WorkQueue } from '../../../runtime/work-queue.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import type { GitLoop } from '../../../controllers/sources/following/git-loop.ts';
import type { HubInventory } from '../../../controllers/inventory/hub-inventory.ts';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';
import type { Readiness } from './readiness.ts';
import type { ServeOptions } from '../../settings/serve-options.ts';

/** What the controller's HTTP answers are made from. */
export interface ControllerHttpOptions {
  readonly options: ServeOptions;
  readonly inventory: HubInventory;
  readonly publishedPlacements: PublishedPlacements;
  readonly metrics: ControllerMetrics;
  readonly loops: readonly GitLoop[];
  readonly decider: { readonly queue: WorkQueue };
  readonly readiness: Readiness;
  readonly leadership: Leadership;
  /** The commit that the object's source was last read at; '' without a source, and while it is not known. */
  readonly commitOf: (object: Pick<KubeObject, 'metadata'>) => string;
  readonly warnings: () => readonly string[];
}
