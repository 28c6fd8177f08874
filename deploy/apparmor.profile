# Lets bubblewrap, the sandbox of Plotline's kernels, create user namespaces. deploy/apparmor-profile installs it.
abi <abi/4.0>,
include <tunables/global>

profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
  include if exists <local/bwrap>
}
