import { ObjectCache } from '@berth/kube/cache/object-cache';
import { GITOPS_CLUSTERS, MANAGED_SERVICE_ACCOUNT } from '../../core/argocd/argocd-kinds.ts';
import { SECRET_TYPE_LABEL, trimClusterSecret } from '../../core/argocd/cluster-secrets/cluster-secret.ts';
import { InputError } from '@berth/runtime/errors';
import {
  CERTIFICATE_REQUEST,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  CONFIG_MAP,
  LEASE,
  MANIFEST_WORK,
  ROLE,
  ROLE_BINDING,
  SECRET,
  SERVICE_ACCOUNT,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ListOptions } from '@berth/kube/model/kube-api';
import { ADDON_NAME_LABEL, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { sha256 } from '@berth/runtime/sha256';
import { isPullWork } from '../../core/argocd/pull/pull-target.ts';
import { trimWork } from '../../controllers/works/work-inventory.ts';
import type { ControllerEventBody } from '../../controllers/events/controller-events.ts';
import type { HubContinuity } from '../../controllers/inventory/hub-continuity.ts';
import type { ServeOptions } from '../settings/serve-options.ts';

/** Kinds that a hub need not serve. */
const OPTIONAL = [...GITOPS_CLUSTERS, MANAGED_SERVICE_ACCOUNT];

/** The only copy of the hub in the process. Decisions, publication and the work controllers read from it. */
export function serveCache(
  { api, clock, random, log, works, argocd, registration, addons }: ServeOptions,
  emit: (event: ControllerEventBody) => void,
  continuity: Pick<HubContinuity, 'check' | 'reportBreak'>,
): ObjectCache {
  const kept = works === false ? withoutSpec : trimWork;
  const trim = addons?.duties.includes('deployment') === true ? exceptAddOnWorks(kept) : kept;
  return new ObjectCache({
    api,
    clock,
    random,
    log,
    historyOf: () => continuity.check(),
    onOtherHistory: () => continuity.reportBreak(),
    transforms: {
      [MANIFEST_WORK.plural]: argocd?.pull === true ? exceptPullWorks(trim) : trim,
      [SECRET.plural]: (secret) => trimClusterSecret(secret, { digest: sha256, decode: fromBase64 }),
    },
    scopes: {
      ...(argocd === undefined ? {} : argocdScopes(argocd.namespace)),
      ...(registration === undefined && addons === undefined ? {} : REGISTRATION_SCOPES),
    },
    onError: (of, error) => {
      // The kind is optional; if it is missing, status and log report it.
      const isAbsent = error instanceof InputError && error.code === 'kube.notfound';
      if (!(isAbsent && OPTIONAL.includes(of))) emit({ kind: 'error', where: `watch ${of.kind}`, error });
    },
  });
}

/** Works of Applications keep their spec, because it is compared with the wanted one. */
function exceptPullWorks(trim: (object: KubeObject) => KubeObject) {
  return (object: KubeObject): KubeObject => (isPullWork(object) ? object : trim(object));
}

/** Works of add-ons keep their spec, too. */
function exceptAddOnWorks(trim: (object: KubeObject) => KubeObject) {
  return (object: KubeObject): KubeObject =>
    object.metadata.labels?.[ADDON_NAME_LABEL] === undefined ? trim(object) : object;
}

/** Without the work controllers, only labels and status of works are needed. */
function withoutSpec(object: KubeObject): KubeObject {
  const { spec: _spec, ...rest } = object;
  return rest;
}

/** Only ConfigMaps and cluster Secrets in the namespace of Argo CD are read. */
function argocdScopes(namespace: string): Readonly<Record<string, ListOptions>> {
  return {
    [CONFIG_MAP.plural]: { namespace },
    [SECRET.plural]: { namespace, labelSelector: `${SECRET_TYPE_LABEL}=cluster` },
  };
}

/** Only objects that belong to a cluster. The last two exist for add-ons with tokens. */
const REGISTRATION_SCOPES: Readonly<Record<string, ListOptions>> = Object.fromEntries(
  [
    ...[LEASE, CERTIFICATE_REQUEST, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING],
    ...[ROLE, SERVICE_ACCOUNT],
  ].map(({ plural }) => [plural, { labelSelector: CLUSTER_NAME_LABEL }]),
);

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}
