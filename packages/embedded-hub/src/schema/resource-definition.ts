import type { JsonObject } from '../json/json-value.ts';
import type { WebhookClientConfig } from '../wire/webhook-client-config.ts';
import type { Schema } from './schema.ts';

/** One served resource: its names and its versions. */
export interface ResourceDefinition {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Kubernetes' own kinds: strategic merge patch, protobuf bodies, generation only where upstream keeps one. */
  readonly builtIn: boolean;
  readonly verbs: readonly string[];
  /** Names the objects in the store; equal for resources that show the same objects (both Event kinds). */
  readonly storageKey: string;
  /** Versions differ by more than their apiVersion. */
  readonly conversion?: Conversion;
  /** By priority: GA before beta before alpha, then newer first. */
  readonly versions: readonly ResourceVersion[];
}

/** How objects are converted between versions: by a webhook, or by the hub. */
export type Conversion =
  | { readonly kind: 'webhook'; readonly webhook: ConversionWebhook }
  /** @param apiVersion of the result. Metadata other than labels and annotations stays. */
  | { readonly kind: 'built-in'; readonly convert: (object: JsonObject, apiVersion: string) => JsonObject };

export interface ConversionWebhook {
  readonly client: WebhookClientConfig;
  /** In order of preference; the hub supports `v1` and `v1beta1`. */
  readonly reviewVersions: readonly string[];
}

export interface ResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecationWarning?: string;
  readonly schema: Schema;
  readonly subresources: Subresources;
  readonly printerColumns: readonly PrinterColumn[];
  /** Dotted paths usable in field selectors besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
}

export interface Subresources {
  readonly status: boolean;
  readonly scale?: ScalePaths;
  readonly others: readonly OtherSubresource[];
}

/** Dotted paths without the leading dot: `spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** A subresource with its own kind, like `token` of a ServiceAccount. */
export interface OtherSubresource {
  readonly name: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly priority?: number;
  readonly description?: string;
  readonly jsonPath: string;
}

/** One version of a resource, as a request path names it. */
export interface ResourceRef {
  readonly definition: ResourceDefinition;
  readonly version: ResourceVersion;
}

export function apiVersionOf(ref: ResourceRef): string {
  const { group } = ref.definition;
  return group === '' ? ref.version.name : `${group}/${ref.version.name}`;
}

const KUBE_VERSION = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const STABILITY = { alpha: 0, beta: 1, ga: 2 } as const;

/** Orders API versions for discovery: GA before beta before alpha, then newer first; other names last, by text. */
export function compareVersionPriority(left: string, right: string): number {
  const [a, b] = [KUBE_VERSION.exec(left), KUBE_VERSION.exec(right)];
  if (a === null || b === null) {
    if (a === null && b === null) return left < right ? -1 : left > right ? 1 : 0;
    return a === null ? 1 : -1;
  }
  return (
    stability(b) - stability(a) || Number(b[1]) - Number(a[1]) || Number(b[3] ?? '0') - Number(a[3] ?? '0')
  );
}

function stability(match: RegExpExecArray): number {
  return STABILITY[(match[2] ?? 'ga') as keyof typeof STABILITY];
}
