import { BerthError } from '@berth/runtime/errors';
import { type JsonObject, setOwn } from '../json/json-value.ts';

/**
 * Limits the size of every error response, because messages quote the request, and a small body can
 * violate a rule a hundred thousand times. A text that is cut ends with the number of omitted
 * characters.
 */
const MAX_MESSAGE_LENGTH = 32 * 1024;
/** Callers with more causes report their own limit first. */
const MAX_CAUSES = 128;
const MAX_CAUSES_LENGTH = 64 * 1024;
/** Messages of CEL rules may have 5 KiB. */
const MAX_CAUSE_LENGTH = 6 * 1024;
const MAX_FIELD_LENGTH = 1_024;

/** One entry of `details.causes` of a meta/v1 Status. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
  readonly uid?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** A request whose response is a meta/v1 Status instead of its result. `code` is `hub.` and the reason in lower case. */
export class StatusError extends BerthError {
  readonly httpCode: number;
  /** Machine-readable `reason` of the Status; '' if the API server sends none. */
  readonly reason: string;
  /** `message` of the Status, as clients print it. */
  readonly statusMessage: string;
  readonly details: StatusDetails | undefined;
  /** Warnings that are sent with the response. */
  #warnings: readonly string[] = [];

  constructor(httpCode: number, reason: string, message: string, details?: StatusDetails) {
    super(message, { code: `hub.${reason.toLowerCase()}`, subject: details?.name ?? 'request' });
    this.httpCode = httpCode;
    this.reason = reason;
    this.statusMessage = message;
    this.details = details;
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** The same error with warnings from before it was thrown. */
  withWarnings(warnings: readonly string[]): StatusError {
    const copy = new StatusError(this.httpCode, this.reason, this.statusMessage, this.details);
    copy.#warnings = warnings;
    return copy;
  }

  /** The body of the response. */
  toStatus(): JsonObject {
    const status: JsonObject = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: cutText(this.statusMessage, MAX_MESSAGE_LENGTH),
    };
    if (this.reason !== '') status['reason'] = this.reason;
    if (this.details !== undefined) status['details'] = detailsToJson(this.details);
    status['code'] = this.httpCode;
    return status;
  }
}

function detailsToJson({ causes, ...fields }: StatusDetails): JsonObject {
  const json: JsonObject = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined || value === '') continue;
    setOwn(json, key, typeof value === 'string' ? cutText(value, MAX_FIELD_LENGTH) : value);
  }
  if (causes !== undefined) json['causes'] = causesToJson(causes);
  return json;
}

/** The first causes, and how many more there are. */
function causesToJson(causes: readonly StatusCause[]): JsonObject[] {
  const kept: JsonObject[] = [];
  let length = 0;
  for (const { reason, message, field } of causes) {
    if (kept.length >= MAX_CAUSES || length > MAX_CAUSES_LENGTH) break;
    const text = cutText(message, MAX_CAUSE_LENGTH);
    const cause: JsonObject = reason === '' ? { message: text } : { reason, message: text };
    if (field !== undefined) cause['field'] = cutText(field, MAX_FIELD_LENGTH);
    length += message.length + (field?.length ?? 0);
    kept.push(cause);
  }
  const missing = causes.length - kept.length;
  if (missing > 0) kept.push({ message: `...(${String(missing)} more causes)` });
  return kept;
}

/**
 * The text, or its beginning and the number of omitted characters. Never ends in half of a
 * surrogate pair.
 */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength;
  return `${text.slice(0, end)}...(${String(text.length - end)} more characters)`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
