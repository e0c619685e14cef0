import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { VersionResources } from '../scheme/scheme.ts';

/** Discovery documents of the server of an aggregated API. */
export interface RemoteDocuments {
  /** Entries of aggregated discovery. */
  readonly resources: readonly JsonObject[];
  /** Address of its OpenAPI document, hash included; '' when it has none. */
  readonly openApiUrl: string;
  /** false: the server did not respond, and these are its last documents. */
  readonly current: boolean;
}

/** A group in discovery: the hub's own, or one that another server serves. */
export interface ServedGroup {
  readonly group: string;
  readonly versions: readonly ServedVersion[];
}

export interface ServedVersion extends VersionResources {
  /** Documents of another server; undefined if they were not requested. */
  readonly remote?: RemoteDocuments | undefined;
}

/** `apps/v1`, or `v1` for the core group. */
function groupVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** meta/v1 APIResourceList: the resources of one group and version, subresources included. */
export function apiResourceList(group: string, resources: VersionResources): JsonObject {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersion(group, resources.version),
    resources: resources.resources.flatMap((ref) => [legacyResource(ref), ...legacySubresources(ref)]),
  };
}

function legacyResource(ref: ResourceRef): JsonObject {
  const { definition } = ref;
  return {
    name: definition.plural,
    singularName: definition.singular,
    namespaced: definition.namespaced,
    kind: definition.kind,
    verbs: [...definition.verbs],
    ...(definition.shortNames.length > 0 && { shortNames: [...definition.shortNames] }),
    ...(definition.categories.length > 0 && { categories: [...definition.categories] }),
  };
}

interface SubresourceInfo {
  readonly name: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
}

const READ_WRITE = ['get', 'patch', 'update'];

function subresourcesOf(ref: ResourceRef): readonly SubresourceInfo[] {
  const { definition, version } = ref;
  const own = { group: definition.group, version: version.name, kind: definition.kind };
  const { status, scale, others } = version.subresources;
  return [
    ...others,
    ...(scale === undefined
      ? []
      : [{ name: 'scale', kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs: READ_WRITE }]),
    ...(status ? [{ name: 'status', kind: own, verbs: READ_WRITE }] : []),
  ];
}

function legacySubresources(ref: ResourceRef): JsonObject[] {
  const { definition } = ref;
  return subresourcesOf(ref).map(({ name, kind, verbs }) => ({
    name: `${definition.plural}/${name}`,
    singularName: '',
    namespaced: definition.namespaced,
    ...(kind.group !== definition.group && { group: kind.group, version: kind.version }),
    kind: kind.kind,
    verbs: [...verbs],
  }));
}

/** meta/v1 APIGroup. */
export function apiGroup(group: ServedGroup): JsonObject {
  const versions = group.versions.map(({ version }) => ({
    groupVersion: groupVersion(group.group, version),
    version,
  }));
  return {
    kind: 'APIGroup',
    apiVersion: 'v1',
    name: group.group,
    versions,
    preferredVersion: versions[0] ?? {},
  };
}

export function apiGroupList(groups: readonly ServedGroup[]): JsonObject {
  const listed = groups.map((group) => {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = apiGroup(group);
    return rest;
  });
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: listed };
}

export function coreVersions(serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** Aggregated discovery: everything below `/api` or `/apis` in one document. */
export function aggregatedDiscovery(
  groups: readonly ServedGroup[],
  apiVersion: 'v2' | 'v2beta1',
): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${apiVersion}`,
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.group === '' ? {} : { name: group.group },
      versions: group.versions.map(({ version, resources, remote }) => ({
        version,
        resources: remote === undefined ? resources.map(aggregatedResource) : [...remote.resources],
        freshness: remote?.current === false ? 'Stale' : 'Current',
      })),
    })),
  };
}

function aggregatedResource(ref: ResourceRef): JsonObject {
  const { definition, version } = ref;
  const subresources = subresourcesOf(ref).map(({ name, kind, verbs }) => ({
    subresource: name,
    responseKind: { ...kind },
    verbs: [...verbs],
  }));
  return {
    resource: definition.plural,
    responseKind: { group: definition.group, version: version.name, kind: definition.kind },
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: [...definition.verbs],
    ...(definition.shortNames.length > 0 && { shortNames: [...definition.shortNames] }),
    ...(definition.categories.length > 0 && { categories: [...definition.categories] }),
    ...(subresources.length > 0 && { subresources }),
  };
}
