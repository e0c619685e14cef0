import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json/json-value.ts';
import { decodeProtobuf } from '../../src/proto/decode-protobuf.ts';
import { StatusError } from '../../src/wire/status-error.ts';
import type { Part } from './proto-writer.ts';
import { bool, bytes, concat, double, entry, envelope, int, message, text } from './proto-writer.ts';

interface Recorded {
  readonly request: string;
  readonly base64: string;
  /** What the same command prints as JSON, without what is empty. */
  readonly want: JsonObject;
}

const recorded = readFileSync(new URL('kubectl-bodies.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

const decode = (base64: string): JsonObject => decodeProtobuf(Buffer.from(base64, 'base64'));

/** Without nulls, empty texts, empty containers, zeros and falses: protobuf does not tell those from absent fields. */
function substance(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((one) => substance(one) ?? one);
  if (value === null || value === '' || value === 0 || value === false) return undefined;
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, below]) => [key, substance(below)] as const);
  const kept = entries.filter((one): one is [string, JsonValue] => one[1] !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

describe('bodies that kubectl 1.33 sends', () => {
  it.each(recorded)('$request', ({ base64, want }) => {
    expect(substance(decode(base64))).toEqual(substance(want));
  });
});

const meta = (...more: readonly Part[]): Part => message(1, text(1, 'n'), text(3, 'ns'), ...more);
const metadata = { name: 'n', namespace: 'ns' };
const time = (field: number, seconds: number, nanos = 0): Part =>
  message(field, int(1, seconds), int(2, nanos));

interface Golden {
  readonly kind: string;
  readonly apiVersion: string;
  readonly parts: readonly Part[];
  readonly want: JsonObject;
}

/** Bodies of controllers, written by field number. */
const GOLDEN: readonly Golden[] = [
  {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    parts: [
      meta(),
      message(
        2,
        text(1, 'me'),
        int(2, 60),
        time(3, 1767225600, 5000),
        time(4, 1767225601, 123456789),
        int(5, 3),
      ),
    ],
    want: {
      metadata,
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 60,
        acquireTime: '2026-01-01T00:00:00.000005Z',
        renewTime: '2026-01-01T00:00:01.123456Z',
        leaseTransitions: 3,
      },
    },
  },
  {
    kind: 'Event',
    apiVersion: 'v1',
    parts: [
      meta(),
      message(2, text(1, 'Pod'), text(2, 'ns'), text(3, 'p'), text(4, 'u'), text(5, 'v1')),
      text(3, 'Started'),
      text(4, 'it started'),
      message(5, text(1, 'kubelet')),
      time(6, 1767225600),
      time(7, 1767225600),
      int(8, 2),
      text(9, 'Normal'),
    ],
    want: {
      metadata,
      involvedObject: { kind: 'Pod', namespace: 'ns', name: 'p', uid: 'u', apiVersion: 'v1' },
      reason: 'Started',
      message: 'it started',
      source: { component: 'kubelet' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 2,
      type: 'Normal',
    },
  },
  {
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
    parts: [
      meta(),
      time(2, 1767225600, 1000),
      text(4, 'berth'),
      text(5, 'berth-1'),
      text(6, 'FieldReporter'),
      text(7, 'Placed'),
      message(8, text(1, 'Placement')),
      text(10, 'a note'),
      text(11, 'Normal'),
    ],
    want: {
      metadata,
      eventTime: '2026-01-01T00:00:00.000001Z',
      reportingController: 'berth',
      reportingInstance: 'berth-1',
      action: 'FieldReporter',
      reason: 'Placed',
      regarding: { kind: 'Placement' },
      note: 'a note',
      type: 'Normal',
    },
  },
  {
    kind: 'CertificateSigningRequest',
    apiVersion: 'certificates.k8s.io/v1',
    parts: [
      message(1, text(1, 'n')),
      message(
        2,
        bytes(1, '-----BEGIN'),
        text(2, 'u'),
        text(4, 'g1'),
        text(4, 'g2'),
        text(5, 'client auth'),
        entry(6, 'k', message(2, text(1, 'a'), text(1, ''))),
        text(7, 'a.b/c'),
        int(8, 600),
      ),
      message(
        3,
        message(1, text(1, 'Approved'), text(2, 'R'), text(3, 'M'), time(4, 1767225600), text(6, 'True')),
      ),
    ],
    want: {
      metadata: { name: 'n' },
      spec: {
        request: Buffer.from('-----BEGIN').toString('base64'),
        username: 'u',
        groups: ['g1', 'g2'],
        usages: ['client auth'],
        extra: { k: ['a', ''] },
        signerName: 'a.b/c',
        expirationSeconds: 600,
      },
      status: {
        conditions: [
          {
            type: 'Approved',
            reason: 'R',
            message: 'M',
            lastUpdateTime: '2026-01-01T00:00:00Z',
            status: 'True',
          },
        ],
      },
    },
  },
  {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    parts: [int(1, 0), message(2, text(1, 'uid-1'), text(2, '77')), text(4, 'Foreground'), text(5, 'All')],
    want: {
      gracePeriodSeconds: 0,
      preconditions: { uid: 'uid-1', resourceVersion: '77' },
      propagationPolicy: 'Foreground',
      dryRun: ['All'],
    },
  },
  {
    kind: 'DeleteOptions',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    parts: [bool(3, true)],
    want: { orphanDependents: true },
  },
  {
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    parts: [
      message(1, text(1, 'things.example.com')),
      message(
        2,
        text(1, 'example.com'),
        message(3, text(1, 'things'), text(2, 'thing'), text(3, 't'), text(4, 'Thing')),
        text(4, 'Namespaced'),
        message(
          7,
          text(1, 'v1'),
          bool(2, true),
          bool(3, true),
          message(
            4,
            message(
              1,
              text(5, 'object'),
              entry(
                29,
                'x',
                message(2, text(5, 'integer'), double(11, -1.5), message(8, bytes(1, '7')), int(16, 0)),
              ),
              entry(
                29,
                'list',
                message(2, text(5, 'array'), message(24, message(1, text(5, 'string'))), text(42, 'set')),
              ),
              entry(29, 'map', message(2, text(5, 'object'), message(30, bool(1, true)))),
              entry(29, 'free', message(2, bool(38, true))),
            ),
          ),
        ),
      ),
    ],
    want: {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'things', singular: 'thing', shortNames: ['t'], kind: 'Thing' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  x: { type: 'integer', minimum: -1.5, default: 7, maxItems: 0 },
                  list: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
                  map: { type: 'object', additionalProperties: true },
                  free: { 'x-kubernetes-preserve-unknown-fields': true },
                },
              },
            },
          },
        ],
      },
    },
  },
  {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    parts: [
      message(1, text(1, 'v1.x.io')),
      message(
        2,
        message(1, text(1, 'ns'), text(2, 'svc'), int(3, 443)),
        text(2, 'x.io'),
        text(3, 'v1'),
        bool(4, true),
        int(7, 100),
        int(8, 10),
      ),
    ],
    want: {
      metadata: { name: 'v1.x.io' },
      spec: {
        service: { namespace: 'ns', name: 'svc', port: 443 },
        group: 'x.io',
        version: 'v1',
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 10,
      },
    },
  },
  {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    parts: [
      meta(entry(11, 'l', text(2, '1')), time(8, 0, 0)),
      message(
        2,
        int(1, -1),
        message(
          3,
          message(1),
          message(
            2,
            message(1, text(1, 'v'), message(2, message(19, message(1, text(1, 'c'))))),
            message(
              2,
              text(1, 'a'),
              message(8, entry(1, 'cpu', message(2, text(1, '100m')))),
              message(
                10,
                message(1, message(2, text(1, '/'), message(2, int(1, 1), text(3, 'http')))),
                int(2, 5),
              ),
            ),
          ),
        ),
        message(
          4,
          text(1, 'RollingUpdate'),
          message(2, message(1, int(1, 0), int(2, 1)), message(2, int(1, 1), text(3, '25%'))),
        ),
      ),
    ],
    want: {
      metadata: { ...metadata, labels: { l: '1' }, creationTimestamp: '1970-01-01T00:00:00Z' },
      spec: {
        replicas: -1,
        template: {
          metadata: {},
          spec: {
            volumes: [{ name: 'v', configMap: { name: 'c' } }],
            containers: [
              {
                name: 'a',
                resources: { limits: { cpu: '100m' } },
                livenessProbe: { httpGet: { path: '/', port: 'http' }, initialDelaySeconds: 5 },
              },
            ],
          },
        },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: '25%' } },
      },
    },
  },
];

describe('bodies of controllers', () => {
  it.each(GOLDEN)('$apiVersion $kind', ({ kind, apiVersion, parts, want }) => {
    expect(decodeProtobuf(envelope(apiVersion, kind, ...parts))).toEqual({ apiVersion, kind, ...want });
  });

  it('skips unknown fields of every wire type', () => {
    const unknown = [
      int(900, 1),
      double(901, 1),
      text(902, 'x'),
      Uint8Array.from([...[0xbd, 0x38], 1, 2, 3, 4]),
    ];
    const body = envelope('v1', 'ConfigMap', meta(), ...unknown, entry(2, 'a', text(2, 'b')));
    expect(decodeProtobuf(body)).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
  });

  it('takes prototype names as plain keys', () => {
    const body = envelope(
      'v1',
      'ConfigMap',
      entry(2, '__proto__', text(2, 'x')),
      entry(2, 'constructor', text(2, 'y')),
    );
    const data = decodeProtobuf(body)['data'] as JsonObject;
    expect(Object.keys(data)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
  });
});

function refusal(body: Uint8Array): number | 'decoded' {
  try {
    decodeProtobuf(body);
    return 'decoded';
  } catch (error) {
    if (error instanceof StatusError) return error.httpCode;
    throw error;
  }
}

describe('broken bodies', () => {
  it.each<{ name: string; body: Uint8Array }>([
    { name: 'empty', body: new Uint8Array() },
    { name: 'JSON', body: new TextEncoder().encode('{"kind":"ConfigMap"}') },
    { name: 'unknown kind', body: envelope('v1', 'Nonsense') },
    { name: 'kind named like a prototype property', body: envelope('v1', 'constructor') },
    {
      name: 'length past the end',
      body: concat(envelope('v1', 'ConfigMap').slice(0, 4), Uint8Array.from([0x12, 0xff, 0x7f])),
    },
    {
      name: 'endless varint',
      body: concat(
        envelope('v1', 'ConfigMap').slice(0, 4),
        Uint8Array.from(Array.from({ length: 12 }, () => 0xff)),
      ),
    },
    {
      name: 'text that is no UTF-8',
      body: envelope('v1', 'ConfigMap', message(1, Uint8Array.from([0x0a, 2, 0xff, 0xfe]))),
    },
    { name: 'a number where a message belongs', body: envelope('v1', 'ConfigMap', int(1, 5)) },
    {
      name: 'embedded JSON that does not parse',
      body: envelope('apps/v1', 'ControllerRevision', message(2, bytes(1, '{'))),
    },
  ])('answers 400 to $name', ({ body }) => {
    expect(refusal(body)).toBe(400);
  });

  it('answers 400, or decodes what is there, wherever a body is cut off or flipped', () => {
    for (const { base64 } of recorded) {
      const whole = Buffer.from(base64, 'base64');
      for (let length = 0; length < whole.length; length += 1) {
        expect([400, 'decoded']).toContain(refusal(whole.subarray(0, length)));
        const flipped = Uint8Array.from(whole);
        flipped[length] = (whole[length] ?? 0) ^ 0xff;
        expect([400, 'decoded']).toContain(refusal(flipped));
      }
    }
  });
});
