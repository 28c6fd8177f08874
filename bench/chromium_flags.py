"""The flags with which benchmarks and browser tests start Chromium."""

from __future__ import annotations

#: Features that are turned off. Chromium uses only the last such list, which replaces Playwright's. So this one repeats
#: those of Playwright's features that affect a page or send requests. The first three are additional.
DISABLED_FEATURES = [
    # Chromium's own address bar. Its pages are loaded with each window, even an invisible one, and take 1 s of CPU
    # time.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
]

#: `--no-sandbox` is needed because tests also run as root in containers. The others prevent requests to the network.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(DISABLED_FEATURES)}",
]
