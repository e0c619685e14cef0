import { ObjectCache } from '../../adapters/kube/cache/object-cache.ts';
import { MANIFEST_WORK } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { isPullWork } from '../../core/argocd/pull/pull-target.ts';
import { trimWork } from '../../core/work/trim-work.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import type { HubContinuity } from '../../controllers/inventory/hub-continuity.ts';
import type { ServeOptions } from '../settings/serve-options.ts';

/** The only copy of the hub that the process keeps: decisions, publication and the work controllers read it. */
export function serveCache(
  { api, clock, random, log, works, argocdPull }: ServeOptions,
  emit: (happening: ControllerEventBody) => void,
  history: Pick<HubContinuity, 'look' | 'doubt'>,
): ObjectCache {
  const trim = works === false ? withoutSpec : trimWork;
  return new ObjectCache({
    api,
    clock,
    random,
    log,
    historyOf: () => history.look(),
    onOtherHistory: () => history.doubt(),
    transforms: { [MANIFEST_WORK.plural]: argocdPull === true ? unlessPulled(trim) : trim },
    onError: ({ kind }, error) => emit({ kind: 'error', where: `watch ${kind}`, error }),
  });
}

/** The spec of a work that carries an Application is compared with what the Application asks for. */
function unlessPulled(trim: (object: KubeObject) => KubeObject) {
  return (object: KubeObject): KubeObject => (isPullWork(object) ? object : trim(object));
}

/** Without the work controllers only labels and status of works are read. */
function withoutSpec(object: KubeObject): KubeObject {
  const { spec: _spec, ...rest } = object;
  return rest;
}
