import type { DecodedBody } from '../body/decode-body.ts';
import { type JsonObject, isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import { unsupportedValue } from '../schema/field-problems.ts';
import { isTrueParameter } from '@berth/kube/request-info';
import { invalid, badRequest } from '../wire/status-errors.ts';
import type { FieldValidation } from '../write/write-request.ts';

const PROPAGATIONS: readonly Propagation[] = ['Background', 'Foreground', 'Orphan'];

/** The query of a write, checked. */
export interface WriteOptions {
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly dryRun: boolean;
  readonly force: boolean;
  /** Field manager and validation as in the query, for admission. */
  readonly requested?: { readonly fieldManager?: string; readonly fieldValidation?: string };
}

const FIELD_VALIDATIONS: readonly FieldValidation[] = ['Strict', 'Warn', 'Ignore'];
const MANAGER_LIMIT = 128;

/**
 * @param userAgent default of the field manager (except for apply).
 * @throws StatusError 400 or 422
 */
export function parseWriteOptions(
  query: URLSearchParams,
  userAgent: string,
  optionsKind: string,
): WriteOptions {
  const validation = query.get('fieldValidation') ?? '';
  const fieldValidation =
    validation === '' ? 'Warn' : FIELD_VALIDATIONS.find((known) => known === validation);
  if (fieldValidation === undefined)
    throw invalid({ group: 'meta.k8s.io', kind: optionsKind }, '', [
      unsupportedValue('fieldValidation', validation, ['', ...FIELD_VALIDATIONS].sort()),
    ]);
  return {
    fieldManager: managerOf(query.get('fieldManager') ?? '', userAgent, optionsKind),
    fieldValidation,
    dryRun: parseDryRun(query.getAll('dryRun'), optionsKind),
    force: isTrueParameter(query.get('force')),
    requested: {
      ...((query.get('fieldManager') ?? '') !== '' && { fieldManager: query.get('fieldManager') as string }),
      ...(validation !== '' && { fieldValidation: validation }),
    },
  };
}

function managerOf(requested: string, userAgent: string, optionsKind: string): string {
  if (requested.length > MANAGER_LIMIT)
    throw invalid({ group: 'meta.k8s.io', kind: optionsKind }, '', [
      {
        field: 'fieldManager',
        reason: 'FieldValueTooLong',
        message: `Too long: may not be more than ${String(MANAGER_LIMIT)} bytes`,
      },
    ]);
  if (requested !== '' || optionsKind === 'ApplyOptions') return requested;
  const product = userAgent.split('/')[0] ?? '';
  return product === '' ? 'unknown' : product.slice(0, MANAGER_LIMIT);
}

function parseDryRun(values: readonly string[], optionsKind: string): boolean {
  const given = values.filter((value) => value !== '');
  if (given.some((value) => value !== 'All'))
    throw invalid({ group: 'meta.k8s.io', kind: optionsKind }, '', [
      {
        field: 'dryRun',
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(given)}: supported values: "All"`,
      },
    ]);
  return given.length > 0;
}

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
