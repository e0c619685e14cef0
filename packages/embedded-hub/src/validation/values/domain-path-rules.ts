import { dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import type { FieldReporter } from './field-reporter.ts';

const PATH_PATTERN = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

/** `example.com/path`. Source: apimachinery, pkg/util/validation (IsDomainPrefixedPath). */
export function checkDomainPath(text: string, at: FieldReporter): void {
  const slash = text.indexOf('/');
  if (text === '') at.required();
  else if (slash <= 0 || slash === text.length - 1)
    at.invalid(text, 'must be a domain-prefixed path (such as "acme.io/foo")');
  else {
    at.validName(text.slice(0, slash), dnsSubdomain);
    const path = text.slice(slash + 1);
    if (!new RegExp(`^${PATH_PATTERN}$`).test(path))
      at.invalid(path, `Invalid path (regex used for validation is '${PATH_PATTERN}')`);
  }
}
