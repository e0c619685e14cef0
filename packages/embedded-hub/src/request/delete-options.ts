import type { JsonObject } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import { badRequest, invalid } from '../wire/status-errors.ts';
import type { DecodedBody } from '../body/decoded-body.ts';
import { parseDryRun } from './write-options.ts';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

/** meta/v1 DeleteOptions, from the body or the query. */
export interface DeleteOptions {
  readonly propagation: Propagation | undefined;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly dryRun: boolean;
  /** The body, for admission. */
  readonly requested?: JsonObject;
}

const PROPAGATIONS: readonly Propagation[] = ['Background', 'Foreground', 'Orphan'];

/** @throws StatusError 400 or 422 */
export function parseDeleteOptions(body: DecodedBody | undefined, query: URLSearchParams): DeleteOptions {
  const value = body?.value ?? {};
  if (!isObject(value)) throw badRequest('the body of a delete must be a DeleteOptions object');
  const preconditions = objectAt(value, 'preconditions');
  const policy = textAt(value, 'propagationPolicy') || (query.get('propagationPolicy') ?? '');
  const orphan = value['orphanDependents'];
  const bodyDryRun = listAt(value, 'dryRun').filter((item): item is string => typeof item === 'string');
  return {
    propagation: policy === '' ? legacyPolicy(orphan) : parsePolicy(policy),
    uid: textAt(preconditions, 'uid'),
    resourceVersion: textAt(preconditions, 'resourceVersion'),
    requested: { ...value, ...(policy !== '' && { propagationPolicy: policy }) },
    dryRun: parseDryRun([...bodyDryRun, ...query.getAll('dryRun')], 'DeleteOptions'),
  };
}

function legacyPolicy(orphan: unknown): Propagation | undefined {
  if (orphan === true) return 'Orphan';
  return orphan === false ? 'Background' : undefined;
}

function parsePolicy(text: string): Propagation {
  const known = PROPAGATIONS.find((policy) => policy === text);
  if (known !== undefined) return known;
  throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
    {
      field: 'propagationPolicy',
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(text)}: supported values: "Foreground", "Background", "Orphan", "nil"`,
    },
  ]);
}
