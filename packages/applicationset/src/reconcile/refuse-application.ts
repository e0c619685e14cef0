import { dnsSubdomain, labelValue, qualifiedName } from '@berth/kube/model/selector/name-rules';
import { quoteAsGo } from '../json/quote-as-go.ts';
import type { ApplicationFields } from './application-fields.ts';

/**
 * The error of the API server for an Application with invalid metadata; undefined if it is valid.
 * The complaints are sorted.
 */
export function refusalOf({ name, labels, annotations, finalizers }: ApplicationFields): string | undefined {
  const complaints: string[] = [];
  const invalid = (field: string, value: string, problems: readonly string[]): void => {
    for (const problem of problems)
      complaints.push(`metadata.${field}: Invalid value: ${quoteAsGo(value)}: ${problem}`);
  };
  if (name === '') complaints.push('metadata.name: Required value: name or generateName is required');
  else invalid('name', name, dnsSubdomain(name));
  for (const [key, value] of Object.entries(labels)) {
    invalid('labels', key, qualifiedName(key));
    invalid('labels', value, labelValue(value));
  }
  for (const key of Object.keys(annotations)) invalid('annotations', key, qualifiedName(key.toLowerCase()));
  for (const finalizer of finalizers) invalid('finalizers', finalizer, qualifiedName(finalizer));
  const different = [...new Set(complaints)].sort();
  if (different.length === 0) return undefined;
  const text = different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
  return `Application.argoproj.io ${quoteAsGo(name)} is invalid: ${text}`;
}
