import { dnsLabel } from '@berth/kube/model/selector/name-rules';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  textAt,
} from '@berth/runtime/json/json-value';
import { CLUSTER_SET_LABEL } from '../kind/managed-cluster.ts';
import { DEFAULT_SET } from './complete-cluster.ts';
import type { OcmRequirement, OcmReview, OcmRight, OcmWrite } from './ocm-write.ts';

const ACCEPT = {
  verb: 'update',
  group: 'register.open-cluster-management.io',
  resource: 'managedclusters',
  subresource: 'accept',
} as const;
const JOIN = {
  verb: 'create',
  group: 'cluster.open-cluster-management.io',
  resource: 'managedclustersets',
  subresource: 'join',
} as const;

/**
 * Name, addresses, the right to accept a cluster, the right to move it between sets.
 * Source: open-cluster-management.io/ocm `pkg/registration/webhook/v1/managedcluster_validating.go`.
 */
export function reviewCluster(write: OcmWrite): OcmReview {
  const name = textAt(objectAt(write.object, 'metadata'), 'name');
  const problems = dnsLabel(name);
  if (problems.length > 0) {
    const refusal = { kind: 'invalid', field: 'metadata.name', value: name, problems } as const;
    return { kind: 'refused', refusal };
  }
  const badUrl = listAt(objectAt(write.object, 'spec'), 'managedClusterClientConfigs').find(hasBadUrl);
  if (badUrl !== undefined) {
    const message = `url "${urlOf(badUrl)}" is invalid in client configs`;
    return { kind: 'refused', refusal: { kind: 'bad-request', message } };
  }
  return {
    kind: 'requirements',
    requirements: [...acceptRequirements(write, name), ...joinRequirements(write)],
  };
}

function urlOf(config: JsonValue): string {
  return isObject(config) ? textAt(config, 'url') : '';
}

function hasBadUrl(config: JsonValue): boolean {
  const url = urlOf(config);
  return !URL.canParse(url) || new URL(url).protocol !== 'https:';
}

function acceptRequirements({ object, old, userName }: OcmWrite, name: string): readonly OcmRequirement[] {
  const isAccepted = (one: JsonObject | undefined): boolean =>
    objectAt(one, 'spec')?.['hubAcceptsClient'] === true;
  if (!isAccepted(object) || isAccepted(old)) return [];
  return [
    {
      kind: 'namespace-stays',
      namespace: name,
      otherwise: { kind: 'forbidden', message: `cluster namespace "${name}" is terminating` },
    },
    rightRequirement(
      { ...ACCEPT, name },
      `user ${JSON.stringify(userName)} cannot update the HubAcceptsClient field`,
    ),
  ];
}

/**
 * Leaving a set and entering one both need the right to join it. Unlike in OCM, an update needs no
 * right for the default set of a cluster that had no set: admission adds it, and the next write of
 * the agent must not fail because of that.
 */
function joinRequirements({ object, old, userName }: OcmWrite): readonly OcmRequirement[] {
  const [before, after] = [setOf(old), setOf(object)];
  if (before === after || (old !== undefined && before === '' && after === DEFAULT_SET)) return [];
  return [before, after]
    .filter((set) => set !== '')
    .map((set) =>
      rightRequirement(
        { ...JOIN, name: set },
        `user ${JSON.stringify(userName)} cannot add/remove a ManagedCluster to/from ManagedClusterSet ${JSON.stringify(set)}`,
      ),
    );
}

function setOf(cluster: JsonObject | undefined): string {
  return textAt(objectAt(objectAt(cluster, 'metadata'), 'labels'), CLUSTER_SET_LABEL);
}

function rightRequirement(right: OcmRight, message: string): OcmRequirement {
  return { kind: 'right', right, otherwise: { kind: 'forbidden', message } };
}

const MISNAMED = 'The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet';

/**
 * A binding has the name of its set, and its author needs the right to bind the set. Source:
 * open-cluster-management.io/ocm
 * `pkg/registration/webhook/v1beta2/managedclustersetbinding_validating.go`.
 */
export function reviewBinding({ operation, object, userName }: OcmWrite): OcmReview {
  const set = textAt(objectAt(object, 'spec'), 'clusterSet');
  if (textAt(objectAt(object, 'metadata'), 'name') !== set)
    return { kind: 'refused', refusal: { kind: 'bad-request', message: MISNAMED } };
  if (operation !== 'CREATE') return { kind: 'requirements', requirements: [] };
  const right = {
    verb: 'create',
    group: 'cluster.open-cluster-management.io',
    resource: 'managedclustersets',
    subresource: 'bind',
    name: set,
  };
  const message = `user ${JSON.stringify(userName)} is not allowed to bind cluster set ${JSON.stringify(set)}`;
  return {
    kind: 'requirements',
    requirements: [{ kind: 'right', right, otherwise: { kind: 'forbidden', message } }],
  };
}
