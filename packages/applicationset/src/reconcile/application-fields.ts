import type { ApplicationJson } from '../application-renderer.ts';
import type { JsonValue } from '../json/json-value.ts';

type JsonMap = { readonly [key: string]: JsonValue };

/** The fields of an Application that the controller reads. An absent field is empty. */
export interface ApplicationFields {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly spec: JsonMap;
  readonly project: string;
  readonly destination: { readonly server: string; readonly name: string };
}

export function fieldsOf({ metadata, spec }: ApplicationJson): ApplicationFields {
  const meta = (metadata ?? {}) as JsonMap;
  const fields = (spec ?? {}) as JsonMap;
  const destination = (fields['destination'] ?? {}) as JsonMap;
  return {
    name: (meta['name'] ?? '') as string,
    labels: (meta['labels'] ?? {}) as Record<string, string>,
    annotations: (meta['annotations'] ?? {}) as Record<string, string>,
    finalizers: (meta['finalizers'] ?? []) as readonly string[],
    spec: fields,
    project: (fields['project'] ?? '') as string,
    destination: {
      server: (destination['server'] ?? '') as string,
      name: (destination['name'] ?? '') as string,
    },
  };
}
