import { dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import { getOwn, objectAt, textAt } from '../../json/json-value.ts';
import type { KindRules } from '../values/field-reporter.ts';
import { checkDriverName } from '../pod/volumes.ts';
import { semanticEqual } from '../values/semantic-equal.ts';

/** Source: pkg/apis/storage/validation (ValidateVolumeAttachment). */
export const ATTACHMENT_RULES: KindRules = {
  metadataChecks: 'new',
  validate: (attachment, at, old) => {
    const spec = objectAt(attachment, 'spec') ?? {};
    const place = at.at('spec');
    const attacher = textAt(spec, 'attacher');
    if (attacher === '') place.at('attacher').required();
    const source = objectAt(spec, 'source') ?? {};
    const [volume, inline] = [getOwn(source, 'persistentVolumeName'), getOwn(source, 'inlineVolumeSpec')];
    const exactly = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
    if (volume === undefined && inline === undefined) place.at('source').required(exactly);
    else if (volume !== undefined && inline !== undefined) place.at('source').forbidden(exactly);
    else if (volume === '')
      place.at('source').at('persistentVolumeName').required('must specify non empty persistentVolumeName');
    place.at('nodeName').validName(textAt(spec, 'nodeName'), dnsSubdomain);
    if (old !== undefined) {
      if (!semanticEqual(spec, objectAt(old, 'spec'))) place.invalid(spec, 'field is immutable');
      return;
    }
    checkDriverName(attacher, at.at('spec.attacher'));
    if (typeof volume === 'string') at.at('spec.source.persistentVolumeName').validName(volume, dnsSubdomain);
  },
};
