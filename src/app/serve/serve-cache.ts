import { ObjectCache } from '../../adapters/kube/cache/object-cache.ts';
import { MANIFEST_WORK } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { keptOfWork } from '../../core/work/kept-of-work.ts';
import type { FleetHappening } from '../../controllers/events/fleet-events.ts';
import type { ServeFleetOptions } from '../settings/serve-options.ts';

/** The only copy of the hub that the process keeps: decisions, publication and the work controllers read it. */
export function serveCache(
  { api, clock, random, log, works }: ServeFleetOptions,
  emit: (happening: FleetHappening) => void,
  historyOf: () => Promise<number>,
): ObjectCache {
  return new ObjectCache({
    api,
    clock,
    random,
    log,
    historyOf,
    transforms: { [MANIFEST_WORK.plural]: works === false ? withoutSpec : keptOfWork },
    onError: ({ kind }, error) => emit({ kind: 'error', where: `watch ${kind}`, error }),
  });
}

/** Without the work controllers only labels and status of works are read. */
function withoutSpec(object: KubeObject): KubeObject {
  const { spec: _spec, ...rest } = object;
  return rest;
}
