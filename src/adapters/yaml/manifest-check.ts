import type { KubeObject } from '../../core/model/object-meta.ts';
import { closestName } from '../../core/sources/closest-name.ts';
import { checkSchema, isMapping, show } from './schema/check.ts';
import type { SchemaFinding } from './schema/check.ts';
import { KNOWN_KIND_NAMES, lookUpKind } from './schema/kinds.ts';
import { anyObject } from './schema/meta.ts';

export type ManifestFinding = SchemaFinding;

export interface CheckedManifest {
  /** Absent when an error keeps the object out. */
  readonly object?: KubeObject;
  readonly findings: readonly ManifestFinding[];
}

/** Decides whether a value is a Kubernetes object of a kind and shape that Berth can take. */
export function checkManifest(value: unknown): CheckedManifest {
  if (!isMapping(value))
    return rejected(
      'schema.type',
      `got ${show(value)}, expected a mapping with apiVersion, kind and metadata`,
    );
  if (!Object.hasOwn(value, 'apiVersion') && !Object.hasOwn(value, 'kind')) {
    const message = 'is no Kubernetes object (no apiVersion, no kind): skipped';
    return {
      findings: [{ severity: 'warning', code: 'source.not-an-object', path: [], at: 'value', message }],
    };
  }
  const object = withoutEmptyMetadata(value);
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    return finish(object, checkSchema(object, anyObject));
  const lookup = lookUpKind(apiVersion, kind);
  switch (lookup.state) {
    case 'known':
      return finish(object, [
        ...checkSchema(object, lookup.known.schema),
        ...scopeFindings(object, lookup.known.info.namespaced),
      ]);
    case 'other-version':
      return rejected('schema.version', `got string "${apiVersion}", expected ${lookup.expected}`, [
        'apiVersion',
      ]);
    case 'unknown':
      return finish(object, [...checkSchema(object, anyObject), ...kindFindings(apiVersion, kind)]);
  }
}

function finish(object: Record<string, unknown>, findings: readonly ManifestFinding[]): CheckedManifest {
  const failed = findings.some((finding) => finding.severity === 'error');
  return failed ? { findings } : { object: object as unknown as KubeObject, findings };
}

function rejected(code: string, message: string, path: readonly string[] = []): CheckedManifest {
  return { findings: [{ severity: 'error', code, path, at: 'value', message }] };
}

function scopeFindings(object: Record<string, unknown>, namespaced: boolean): ManifestFinding[] {
  const { metadata } = object;
  if (namespaced || !isMapping(metadata) || metadata['namespace'] === undefined) return [];
  return [
    {
      severity: 'error',
      code: 'schema.scope',
      path: ['metadata', 'namespace'],
      at: 'key',
      message: `got ${show(metadata['namespace'])}, expected none: this kind has no namespace`,
      hint: 'remove the line',
    },
  ];
}

/** A kind that is not ours passes; one that stands in an OCM group under a mistyped name is pointed out. */
function kindFindings(apiVersion: string, kind: string): ManifestFinding[] {
  const meant = closestName(kind, KNOWN_KIND_NAMES);
  if (meant === undefined || !apiVersion.includes('open-cluster-management.io/')) return [];
  const message = `got kind "${kind}", which Berth does not know`;
  return [
    {
      severity: 'warning',
      code: 'schema.unknown-kind',
      path: ['kind'],
      at: 'value',
      message,
      hint: `did you mean ${meant}?`,
    },
  ];
}

const NULLABLE_METADATA = ['labels', 'annotations', 'namespace', 'finalizers', 'ownerReferences'];

/** `labels:` with nothing under it is null in YAML; Kubernetes reads that as absent. */
function withoutEmptyMetadata(value: Record<string, unknown>): Record<string, unknown> {
  const { metadata } = value;
  if (!isMapping(metadata) || !NULLABLE_METADATA.some((name) => metadata[name] === null)) return value;
  const kept = Object.entries(metadata).filter(
    ([name, held]) => held !== null || !NULLABLE_METADATA.includes(name),
  );
  return { ...value, metadata: Object.fromEntries(kept) };
}
