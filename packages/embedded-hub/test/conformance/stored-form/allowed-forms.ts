/** Places in which the embedded hub stores something else, and why. */
export interface AllowedForm {
  /** Start of the ids of the objects. */
  readonly object: string;
  /** Found in the pointer of the difference. */
  readonly path: RegExp;
  readonly why: string;
}

export const ALLOWED_FORMS: readonly AllowedForm[] = [
  {
    object: 'CertificateSigningRequest/',
    path: /^\/metadata\/managedFields$/,
    why: 'Upstream takes the ownership of the spec away from everybody; it can never change.',
  },
  {
    object: 'CertificateSigningRequest/',
    path: /^\/spec\/(?:groups|username)$/,
    why: 'Who asks is filled in before the write pipeline, which is all that is tried here.',
  },
  {
    object: 'CustomResourceDefinition/',
    path: /^\/status\/storedVersions$/,
    why: 'The status is filled in after the write pipeline, which is all that is tried here.',
  },
  {
    object: 'Node/',
    path: /\/(?:f:)?taints$/,
    why: 'Upstream taints a new node as not ready, for a controller to take away. There is none.',
  },
  {
    object: 'ServiceAccount/robot',
    path: /^\/metadata\/managedFields$/,
    why: 'Upstream loses all ownership when an item has no key. The hub loses that of the item.',
  },
  {
    object: 'EndpointSlice/slice',
    path: /^\/metadata\/generation$/,
    why: 'Upstream counts changed labels, and topology that it drops.',
  },
];
