import type { LooseJson } from '../../loose-json.ts';
import { canonicalJson } from '../../../src/json/json-value.ts';
import type { Verdict } from './validation-case.ts';

/** The comparable part of an answer. */
export function verdictOf(status: number, body: LooseJson): Verdict {
  if (status < 300)
    return body.kind === 'Carrier' ? { status, spec: canonicalJson(body.spec ?? null) } : { status };
  const { reason, message, details } = body;
  const causes = (details?.causes ?? []).map(
    (cause: LooseJson) => `${cause.reason} ${cause.field ?? ''}: ${withoutObjects(cause.message)}`,
  );
  return causes.length > 0
    ? { status, reason, causes }
    : { status, reason, message: withoutObjects(message as string) };
}

/** Of an API server, and of the tests. */
export const UID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\buid-\d+\b/g;

/**
 * An API server prints objects and lists as it holds them: with the field names of its own internal types, which no
 * client sees elsewhere.
 */
function withoutObjects(message: string): string {
  // Differences of two such objects follow on lines of their own.
  return message
    .replace(/\n.*/s, '')
    .replace(UID, '{uid}')
    .replace(/^((?:Invalid|Duplicate|Unsupported) value: )([[{].*[\]}])(?=: |$)/s, '$1{…}');
}
