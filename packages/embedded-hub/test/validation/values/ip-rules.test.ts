import { describe, expect, it } from 'vitest';
import { checkCanonicalIp, checkLegacyIp } from '../../../src/validation/values/ip-rules.ts';
import { FieldReporter } from '../../../src/validation/values/field-reporter.ts';
import type { FieldProblem } from '../../../src/wire/status-errors.ts';

const problemsOf = (check: (text: string, at: FieldReporter) => boolean, text: string): string[] => {
  const problems: FieldProblem[] = [];
  expect(check(text, new FieldReporter(problems).at('ip'))).toBe(problems.length === 0);
  return problems.map(({ message }) => message.replace(/^.*?": /, ''));
};

const NO_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** Source of the messages: k8s.io/apimachinery, pkg/util/validation/ip_test.go. */
describe('IP addresses', () => {
  it.each([
    { text: '10.0.0.1' },
    { text: '2001:db8::1' },
    { text: '010.0.0.1', canonical: 'must not have leading 0s' },
    { text: '10.0.0.01', canonical: 'must not have leading 0s' },
    { text: '::ffff:1.2.3.4', canonical: 'must not be an IPv4-mapped IPv6 address' },
    { text: '::ffff:01.2.3.4', canonical: 'must not have leading 0s' },
    { text: '::ffff:0a00:1', canonical: 'must not be an IPv4-mapped IPv6 address' },
    { text: '::FFFF:a00:1', canonical: 'must not be an IPv4-mapped IPv6 address' },
    { text: '::ffff:0100:0001', canonical: 'must not be an IPv4-mapped IPv6 address' },
    { text: '0:0:0:0:0:ffff:a00:1', canonical: 'must not be an IPv4-mapped IPv6 address' },
    { text: '::ffff:0a00:0:1', canonical: 'must be in canonical form ("::ffff:a00:0:1")' },
    { text: '64:ff9b::010.0.0.1', canonical: 'must not have leading 0s' },
    { text: '::ffff:1.2.3', canonical: NO_IP, legacy: NO_IP },
    { text: '2001:DB8::1', canonical: 'must be in canonical form ("2001:db8::1")' },
    { text: '2001:db8:0:0::1', canonical: 'must be in canonical form ("2001:db8::1")' },
    { text: '10.0.0', canonical: NO_IP, legacy: NO_IP },
    { text: '', canonical: NO_IP, legacy: NO_IP },
  ])('$text', ({ text, canonical, legacy }) => {
    expect(problemsOf(checkCanonicalIp, text)).toEqual(canonical === undefined ? [] : [canonical]);
    expect(problemsOf(checkLegacyIp, text)).toEqual(legacy === undefined ? [] : [legacy]);
  });
});
