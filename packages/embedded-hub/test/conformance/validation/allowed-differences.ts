import type { ValidationCase } from './validation-case.ts';

/** Cases that the embedded hub answers differently, and why. */
export interface AllowedDifference {
  /** Start of the ids of the objects. */
  readonly object: string;
  readonly verb?: ValidationCase['verb'];
  /** Found in the pointer of the first edit. */
  readonly path: RegExp;
  /** `answer`: also the status differs. `causes`: status and reason are the same, the causes are not. */
  readonly differs: 'answer' | 'causes';
  readonly why: string;
}

export const ALLOWED_DIFFERENCES: readonly AllowedDifference[] = [
  {
    object: 'CustomResourceDefinition/',
    path: /^\/spec/,
    differs: 'causes',
    why: 'The hub has its own reader of definitions: it names the field as the request does, upstream the one in its internal type.',
  },
  {
    object: 'CustomResourceDefinition/',
    verb: 'create',
    path: /^\/metadata/,
    differs: 'causes',
    why: 'As above; the name is compared with that of the resource also when it is missing.',
  },
  {
    object: 'CustomResourceDefinition/',
    verb: 'create',
    path: /^\/metadata\/generateName$/,
    differs: 'answer',
    why: 'Upstream compares the prefix with the name of the resource, although a name is given.',
  },
  {
    object: 'LimitRange/',
    verb: 'create',
    path: /^\/metadata(?:\/name)?$/,
    differs: 'answer',
    why: 'Upstream names a LimitRange without a name with a UUID; every other kind is refused without a name.',
  },
  {
    object: 'Service/node-port',
    path: /nodePort$/,
    differs: 'answer',
    why: 'An API server allocates no port in a dry run. A real write is answered as the hub answers: the port is not in the range.',
  },
  {
    object: 'Service/node-port',
    verb: 'update',
    path: /^\/spec\/ports\/-$/,
    differs: 'answer',
    why: 'kube-apiserver answers 500 from its allocator where the hub reports the duplicate.',
  },
  {
    object: 'Service/web',
    verb: 'update',
    path: /^\/spec\/clusterIPs?$/,
    differs: 'answer',
    why: 'The stored Service has an address of an API server, but none in the hub, which allocates none.',
  },
  {
    object: 'Pod/large',
    verb: 'create',
    path: /^\/spec\/serviceAccountName$/,
    differs: 'answer',
    why: 'The recording server runs without the plugin that fills in the ServiceAccount; clusters run with it.',
  },
  {
    object: 'Job/by-hand',
    verb: 'update',
    path: /^\/spec\/manualSelector$/,
    differs: 'causes',
    why: 'Jobs that an earlier version of the hub stored have fewer generated labels, and must stay writable.',
  },
  {
    object: 'ReplicationController/',
    verb: 'create',
    path: /^\/metadata\/generateName$/,
    differs: 'answer',
    why: 'Upstream does not look at the prefix of a ReplicationController that has a name.',
  },
  {
    object: 'ReplicationController/',
    verb: 'create',
    path: /^\/metadata\/name$/,
    differs: 'causes',
    why: 'Upstream counts bytes in the name of this kind alone, and characters in all others.',
  },
  {
    object: 'CertificateSigningRequest/',
    verb: 'create',
    path: /^\/spec(?:\/request)?$/,
    differs: 'causes',
    why: 'A request that is missing is shown as an empty text, not as null.',
  },
  {
    object: 'Event/new-event',
    verb: 'update',
    path: /^\/(?:eventTime|regarding)$/,
    differs: 'causes',
    why: 'A removed field is shown as an empty text or null; upstream shows its empty internal object.',
  },
  {
    object: 'Node/',
    verb: 'update',
    path: /^\/spec\/taints\/-$/,
    differs: 'causes',
    why: 'Upstream reports the duplicate once more.',
  },
  {
    object: 'PersistentVolume/',
    verb: 'update',
    path: /^\/spec\/nodeAffinity\/required/,
    differs: 'causes',
    why: 'Upstream does not call an affinity changed that cannot be compared.',
  },
  {
    object: 'Secret/registry',
    path: /^\/stringData$/,
    differs: 'causes',
    why: 'The JSON parser of Node.js names another fault of a broken text.',
  },
  {
    object: 'Carrier/',
    path: /^\/spec\/pruned\/metadata$/,
    differs: 'answer',
    why: 'Upstream drops null metadata of a resource that is pruned; the hub stores an empty object.',
  },
];
