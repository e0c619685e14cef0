import { ObjectCache } from '../../adapters/kube/cache/object-cache.ts';
import { MANIFEST_WORK } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { trimWork } from '../../core/work/trim-work.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import type { HubContinuity } from '../../controllers/inventory/hub-continuity.ts';
import type { ServeOptions } from '../settings/serve-options.ts';

/** The only copy of the hub that the process keeps: decisions, publication and the work controllers read it. */
export function serveCache(
  { api, clock, random, log, works }: ServeOptions,
  emit: (happening: ControllerEventBody) => void,
  history: Pick<HubContinuity, 'look' | 'doubt'>,
): ObjectCache {
  return new ObjectCache({
    api,
    clock,
    random,
    log,
    historyOf: () => history.look(),
    onOtherHistory: () => history.doubt(),
    transforms: { [MANIFEST_WORK.plural]: works === false ? withoutSpec : trimWork },
    onError: ({ kind }, error) => emit({ kind: 'error', where: `watch ${kind}`, error }),
  });
}

/** Without the work controllers only labels and status of works are read. */
function withoutSpec(object: KubeObject): KubeObject {
  const { spec: _spec, ...rest } = object;
  return rest;
}
