import { groupResource } from '@berth/kube/model/kinds';
import { withinWorkBudget, WorkExceededError } from '../json/work-budget.ts';
import { cutText, type StatusCause, type StatusDetails, StatusError } from './status-error.ts';

/** A resource as a Status names it, with the plural in `details.kind`. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

function detailsOf(resource: ResourceName, name: string, extra?: StatusDetails): StatusDetails {
  return { name, group: resource.group, kind: resource.plural, ...extra };
}

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

export const unauthorized = (): StatusError => new StatusError(401, 'Unauthorized', 'Unauthorized');

/** @param why the rest of the sentence after `is forbidden: ` */
export function forbidden(
  resource: ResourceName,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): StatusError {
  const subject =
    resource.plural === '' ? '' : `${groupResource(resource)}${name === '' ? '' : ` "${name}"`} `;
  const details = detailsOf(resource, name, causes === undefined ? undefined : { causes });
  return new StatusError(403, 'Forbidden', `${subject}is forbidden: ${why}`.replace(/^is /, ''), details);
}

export const notFound = (resource: ResourceName, name: string): StatusError =>
  new StatusError(
    404,
    'NotFound',
    `${groupResource(resource)} "${name}" not found`,
    detailsOf(resource, name),
  );

/** No such path. */
export const noSuchResource = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = (): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );

export const notAcceptable = (accepted: readonly string[]): StatusError =>
  new StatusError(
    406,
    'NotAcceptable',
    `only the following media types are accepted: ${accepted.join(', ')}`,
    {},
  );

export const alreadyExists = (resource: ResourceName, name: string): StatusError =>
  new StatusError(
    409,
    'AlreadyExists',
    `${groupResource(resource)} "${name}" already exists`,
    detailsOf(resource, name),
  );

/** @param why the rest of the sentence after the name. */
export const conflict = (resource: ResourceName, name: string, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${groupResource(resource)} "${name}": ${why}`,
    detailsOf(resource, name),
  );

export const OBJECT_MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again';

export const expired = (message: string): StatusError => new StatusError(410, 'Expired', message);

/** @param why the rest of the sentence after `Request entity too large: ` */
const tooLarge = (why: string): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`, {});

export const entityTooLarge = (limitBytes: number): StatusError => tooLarge(`limit is ${String(limitBytes)}`);

export const yamlTooLarge = (limit: number): StatusError =>
  tooLarge(`limit of a YAML body is ${String(limit)} characters, send JSON instead`);

export const tooManyOperations = (limit: number, found: number): StatusError =>
  tooLarge(`The allowed maximum operations in a JSON patch is ${String(limit)}, got ${String(found)}`);

export const tooManyCopiedBytes = (limitBytes: number): StatusError =>
  tooLarge(`the copy operations of the JSON patch add more than ${String(limitBytes)} bytes`);

export const objectTooLarge = (limit: number): StatusError =>
  tooLarge(`the object would have more than ${String(limit)} characters as JSON`);

/** The size of the request is valid, but processing it would block other requests for too long. */
const requestTooExpensive = (): StatusError =>
  tooLarge(
    'it takes more processing than one request may use; send fewer values, operations or rules at a time',
  );

/** A body whose media type no decoder knows: the wording of a main resource. */
export const unknownBodyFormat = (accepted: readonly string[]): StatusError =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

/** A patch whose media type is not a patch type at all. */
export const unsupportedPatchType = (): StatusError =>
  new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});

export const unprocessablePatch = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

/** A kind as a validation Status names it: `Kind.group`. */
export interface KindName {
  readonly group: string;
  readonly kind: string;
}

/** One violated rule: path, message and type. */
export interface FieldProblem {
  readonly field: string;
  readonly reason: string;
  /** Without the field: `Required value`, `Invalid value: "x": must be ...`. */
  readonly message: string;
}

/** Names of existing objects are shorter. */
const MAX_NAME_LENGTH = 512;

/** Maximum number of problems in one response. */
const MAX_PROBLEMS = 100;

export function invalid(kind: KindName, name: string, problems: readonly FieldProblem[]): StatusError {
  const subject = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
  const named = problems.slice(0, MAX_PROBLEMS);
  const missing = problems.length - named.length;
  const lines = [...new Set(named.map((problem) => `${problem.field}: ${problem.message}`))];
  if (missing > 0) lines.push(`...(${String(missing)} more errors)`);
  const text = lines.length === 1 ? (lines[0] as string) : `[${lines.join(', ')}]`;
  const causes = named.map(({ reason, message, field }) => ({ reason, message, field }));
  if (missing > 0) causes.push({ reason: '', message: `...(${String(missing)} more errors)`, field: '' });
  const details = { name, group: kind.group, kind: kind.kind, causes };
  const quoted = cutText(name, MAX_NAME_LENGTH);
  return new StatusError(422, 'Invalid', `${subject} "${quoted}" is invalid: ${text}`, details);
}

/** The request body was not received in time. */
export const bodyTimeout = (message: string): StatusError => new StatusError(408, 'Timeout', message);

/** Webhooks took so long that the request ended before its work was done. */
export const requestDeadlineExceeded = (): StatusError =>
  new StatusError(
    504,
    'Timeout',
    'Timeout: request did not complete within requested timeout - context deadline exceeded',
    {},
  );

export const tooManyRequests = (retryAfterSeconds: number): StatusError =>
  new StatusError(429, 'TooManyRequests', 'the server is busy, please try again', { retryAfterSeconds });

export const internalError = (message: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ reason: '', message }],
  });

/** A Status without a reason: the response of the API server to an error that is no Status itself. */
export const errorWithoutReason = (message: string): StatusError => new StatusError(500, '', message);

export const unavailable = (message: string): StatusError =>
  new StatusError(503, 'ServiceUnavailable', message);

/** A read with a resourceVersion that is newer than the hub's. */
export const resourceVersionTooLarge = (wanted: string, current: string): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

/**
 * Runs the synchronous part of a request with limited work.
 * @throws StatusError 413 besides what `run` throws
 */
export function boundedWork<T>(run: () => T): T {
  try {
    return withinWorkBudget(run);
  } catch (error) {
    throw error instanceof WorkExceededError ? requestTooExpensive() : error;
  }
}
