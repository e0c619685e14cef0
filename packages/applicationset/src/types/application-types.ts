import { APPLICATION_STATUS_FIELDS, APPLICATION_SPEC_FIELDS } from './application-status-fields.ts';
import { describeGoTypes } from './go-type.ts';

const META_FIELDS = {
  Application: `kind?:string apiVersion?:string metadata:ObjectMeta spec:ApplicationSpec status!:ApplicationStatus
    operation?:*Operation`,
  ObjectMeta: `name?:string generateName?:string namespace?:string selfLink?:string uid?:string resourceVersion?:string
    generation?:int64 creationTimestamp!:time deletionTimestamp?:*time deletionGracePeriodSeconds?:*int64 labels?:{}string
    annotations?:{}string ownerReferences?:[]OwnerReference+uid finalizers?:[]string+ managedFields?:[]ManagedFieldsEntry`,
  OwnerReference:
    'apiVersion:string kind:string name:string uid:string controller?:*bool blockOwnerDeletion?:*bool',
  ManagedFieldsEntry:
    'manager?:string operation?:string apiVersion?:string time?:*time fieldsType?:string fieldsV1?:*raw subresource?:string',
  ApplicationSetTemplate: 'metadata:ApplicationSetTemplateMeta spec:ApplicationSpec',
  ApplicationSetTemplateMeta:
    'name?:string namespace?:string labels?:{}string annotations?:{}string finalizers?:[]string',
} as const;

const META_PACKAGES = { ObjectMeta: 'v1', OwnerReference: 'v1', ManagedFieldsEntry: 'v1' };

const structNamed = describeGoTypes(
  { ...APPLICATION_SPEC_FIELDS, ...APPLICATION_STATUS_FIELDS, ...META_FIELDS },
  META_PACKAGES,
);

export const APPLICATION = structNamed('Application');
/** The `template` of an ApplicationSet and of a generator. */
export const TEMPLATE = structNamed('ApplicationSetTemplate');
