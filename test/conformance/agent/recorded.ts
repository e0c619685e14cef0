import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { ManifestCondition } from '@berth/ocm/kind/manifest-work';
import type { AppliedManifestWorkSpec, AppliedResource } from '@berth/ocm/kind/applied-manifest-work';
import type { Condition } from '@berth/kube/model/object-meta';

export type Json = Record<string, unknown>;

export interface RecordedCondition extends Condition {
  readonly moved?: boolean;
}

export interface ObservedWork {
  readonly generation: number;
  readonly finalizers?: readonly string[];
  readonly deleting?: boolean;
  readonly conditions: readonly RecordedCondition[];
  readonly resourceStatus?: {
    readonly manifests: readonly (Omit<ManifestCondition, 'conditions'> & {
      readonly conditions: readonly RecordedCondition[];
    })[];
  };
}

export interface ObservedObject {
  readonly path: string;
  readonly object: Json | null;
  readonly managers?: readonly string[];
  readonly recreated?: boolean;
}

export interface ObservedApplied {
  readonly name: string;
  readonly labels?: Record<string, string>;
  readonly finalizers?: readonly string[];
  readonly deleting?: boolean;
  readonly spec: AppliedManifestWorkSpec;
  readonly appliedResources: readonly AppliedResource[];
}

export interface Observed {
  readonly work: ObservedWork | null;
  readonly applied: readonly ObservedObject[];
  readonly appliedManifestWork: ObservedApplied | null;
  readonly others?: Readonly<
    Record<string, { work: ObservedWork | null; appliedManifestWork: ObservedApplied | null }>
  >;
}

export interface Step {
  readonly do:
    | 'applyWork'
    | 'deleteWork'
    | 'createOnCluster'
    | 'patchCluster'
    | 'deleteOnCluster'
    | 'statusOnCluster'
    | 'wait';
  readonly work?: { readonly metadata: { readonly name: string } & Json; readonly spec: Json };
  readonly name?: string;
  readonly object?: Json;
  readonly path?: string;
  readonly patch?: unknown;
  readonly type?: 'json' | 'apply';
  readonly manager?: string;
  readonly force?: boolean;
  readonly status?: Json;
  readonly seconds?: number;
  readonly settle?: number;
  readonly answer?: { readonly status: number; readonly reason?: string; readonly message?: string };
  readonly observed?: Observed;
}

export interface RecordedHistory {
  readonly name: string;
  readonly about: string;
  readonly steps: readonly Step[];
}

const lines = gunzipSync(readFileSync(new URL('./histories.jsonl.gz', import.meta.url)))
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as unknown);

export const SETUP_OBJECTS = (lines[0] as { setup: { objects: readonly Json[] } }).setup.objects;
export const HISTORIES = lines.slice(1) as readonly RecordedHistory[];
