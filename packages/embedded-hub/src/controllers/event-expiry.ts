import { objectAt, textAt } from '../json/json-value.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { Cluster } from '../request/cluster.ts';
import { metadataOf } from '../request/cluster.ts';
import { LocalClient } from '../rest/local-client.ts';
import type { ReconcileLoop } from '@berth/runtime/loop/reconcile-loop';
import { controllerLoop } from './controller-loop.ts';
import type { HubController } from './hub-controller.ts';

const TTL_MS = 3_600_000;
const SWEEP_EVERY_MS = 60_000;
const EVENTS = { group: '', version: 'v1', plural: 'events' };

/** Events live for an hour after they were last seen. */
export class EventExpiry implements HubController {
  readonly #cluster: Cluster;
  readonly #client: LocalClient;
  readonly #loop: ReconcileLoop;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#client = new LocalClient(cluster, 'event-expiry');
    this.#loop = controllerLoop('events', () => this.#sweep(), cluster);
  }

  start(): void {
    this.#loop.add('sweep');
  }

  stop(): Promise<void> {
    return this.#loop.close();
  }

  async #sweep(): Promise<void> {
    const ref = this.#client.ref(EVENTS);
    const oldestMs = this.#cluster.clock.now() - TTL_MS;
    for (const object of ref === undefined ? [] : this.#client.list(ref)) {
      if (ref === undefined || lastSeenMs(object) >= oldestMs) continue;
      const metadata = metadataOf(object);
      await this.#client.delete(ref, {
        namespace: textAt(metadata, 'namespace'),
        name: textAt(metadata, 'name'),
      });
    }
    this.#loop.addAfter('sweep', SWEEP_EVERY_MS);
  }
}

function lastSeenMs(event: JsonObject): number {
  const times = [
    textAt(event, 'lastTimestamp'),
    textAt(event, 'eventTime'),
    textAt(objectAt(event, 'series'), 'lastObservedTime'),
    textAt(metadataOf(event), 'creationTimestamp'),
  ];
  return Math.max(...times.map((time) => Date.parse(time)).filter((time) => !Number.isNaN(time)), 0);
}
